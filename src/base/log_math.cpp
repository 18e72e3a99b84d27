#include "base/log_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  float top = -std::numeric_limits<float>::infinity();
  for (float v : logits) top = std::max(top, v);
  double sum = 0;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    probs[v] = std::exp((static_cast<double>(logits[v]) - static_cast<double>(top)) / temperature);
    sum += probs[v];
  }
  for (double& p : probs) p /= sum;
}

}  // namespace pgdlm
