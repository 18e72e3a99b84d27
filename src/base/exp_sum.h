// Exponentials of a whole vocabulary at once. A sampler takes millions of them per second, so they are computed in
// vectors, by arithmetic that gives the same bits on every processor: sums in eight fixed lanes, nothing left to the
// compiler.
#pragma once

#include <span>

namespace pgdlm {

struct Top {
  float value = 0;   // the largest; -inf for an empty span
  bool nan = false;  // is any of them not a number?
};
Top top_of(std::span<const float> x);

// e_i = exp((x_i - top) scale), for x_i <= top and scale > 0. Relative error below 1e-15; -inf gives exactly 0, and so
// does everything below e^-700. Returns their sum.
double exp_and_sum(std::span<const float> x, double top, double scale, std::span<double> e);

void scale_all(std::span<double> x, double factor);
double sum_of(std::span<const double> x);

}  // namespace pgdlm
