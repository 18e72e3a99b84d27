// The functions of exp_sum.h for one instruction set.
#pragma once

#include <span>

#include "base/exp_sum.h"

namespace pgdlm {

struct ExpSumSet {
  Top (*top_of)(std::span<const float>);
  double (*exp_and_sum)(std::span<const float>, double, double, std::span<double>);
  void (*scale_all)(std::span<double>, double);
  double (*sum_of)(std::span<const double>);
};

std::span<const ExpSumSet* const> all_exp_sums();  // what this processor can run, the best first

}  // namespace pgdlm
