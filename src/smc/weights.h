// The weights of a population: immutable, in log space. NaN is an Error; all -inf is a named outcome.
#pragma once

#include <span>
#include <vector>

namespace pgdlm {

class Weights {
 public:
  explicit Weights(std::span<const double> log_weights);

  bool degenerate() const { return degenerate_; }  // every weight is 0: nothing can be drawn
  double ess() const { return ess_; }              // (Σw)² / Σw², 0 if degenerate
  double log_mean() const { return log_mean_; }
  std::span<const double> probs() const { return probs_; }

 private:
  std::vector<double> probs_;
  double ess_ = 0, log_mean_ = 0;
  bool degenerate_ = false;
};

}  // namespace pgdlm
