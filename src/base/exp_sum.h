// Exponentials of a whole vocabulary at once. A sampler takes millions of them per second, so they are computed in
// vectors, by arithmetic that gives the same bits on every processor: no fused operations, sums in eight fixed lanes.
#pragma once

#include <span>

namespace pgdlm {

struct Top {
  double value = 0;  // the largest; -inf for an empty span
  bool nan = false;  // is any of them not a number?
};
Top top_of(std::span<const double> x);

// x_i becomes exp((x_i - top) scale), for x_i <= top and scale > 0; returns their sum. Relative error below 1e-15;
// -inf gives exactly 0, and so does everything below e^-700.
double exp_and_sum(std::span<double> x, double top, double scale);

double sum_of(std::span<const double> x);

}  // namespace pgdlm
