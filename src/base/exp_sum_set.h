// The functions of exp_sum.h for one instruction set.
#pragma once

#include <cstddef>
#include <span>

#include "base/exp_sum.h"

namespace pgdlm {

struct ExpSumSet {
  Top (*top_of)(const float* x, std::size_t count);
  double (*exp_and_sum)(const float* x, std::size_t count, double top, double scale, double* e);
  void (*scale_all)(double* x, std::size_t count, double factor);
  double (*sum_of)(const double* x, std::size_t count);
};

std::span<const ExpSumSet* const> all_exp_sums();  // what this processor can run, the best first

}  // namespace pgdlm
