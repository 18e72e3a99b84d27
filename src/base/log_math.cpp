#include "base/log_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exp_sum.h"

namespace pgdlm {

double log_sum_exp(std::span<const double> x) {
  double top = -std::numeric_limits<double>::infinity();
  for (double v : x) {
    if (std::isnan(v)) return v;
    top = std::max(top, v);
  }
  if (std::isinf(top)) return top;
  double sum = 0;
  for (double v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

double log_mean_exp(std::span<const double> x) { return log_sum_exp(x) - std::log(static_cast<double>(x.size())); }

void softmax(std::span<const float> logits, double temperature, std::span<double> probs) {
  const double sum = exp_and_sum(logits, static_cast<double>(top_of(logits).value), 1 / temperature, probs);
  scale_all(probs, 1 / sum);
}

}  // namespace pgdlm
