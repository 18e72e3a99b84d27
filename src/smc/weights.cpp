#include "smc/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pgdlm {

Weights::Weights(std::span<const double> log_weights) : probs_(log_weights.size()) {
  PGDLM_CHECK(!log_weights.empty());
  double top = -std::numeric_limits<double>::infinity();
  for (double lw : log_weights) {
    if (std::isnan(lw) || lw == std::numeric_limits<double>::infinity())
      throw Error(ErrorCode::invalid_request,
                  "a weight is " + std::to_string(lw) +
                      ": rewards must be finite or -inf, and beta not so small that reward/beta overflows");
    top = std::max(top, lw);
  }
  log_mean_ = top;
  degenerate_ = std::isinf(top);
  if (degenerate_) return;

  // Scaled by the largest, so that equal weights are exactly 1 and their ESS exactly k.
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < probs_.size(); ++i) {
    probs_[i] = std::exp(log_weights[i] - top);
    sum += probs_[i];
    squares += probs_[i] * probs_[i];
  }
  ess_ = sum * sum / squares;
  log_mean_ = top + std::log(sum / static_cast<double>(probs_.size()));
  for (double& p : probs_) p /= sum;
}

}  // namespace pgdlm
