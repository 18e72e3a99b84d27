#include "base/exp_sum.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/exp_sum_set.h"

namespace pgdlm {

#if defined(__x86_64__)
namespace avx512 {
extern const ExpSumSet kExpSum;
}
namespace avx2 {
extern const ExpSumSet kExpSum;
}
#endif
namespace baseline {
extern const ExpSumSet kExpSum;
}

namespace {

std::vector<const ExpSumSet*> usable() {
  std::vector<const ExpSumSet*> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) found.push_back(&avx512::kExpSum);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&avx2::kExpSum);
#endif
  found.push_back(&baseline::kExpSum);
  return found;
}

const ExpSumSet& best() {
  static const ExpSumSet& set = *all_exp_sums().front();
  return set;
}

}  // namespace

std::span<const ExpSumSet* const> all_exp_sums() {
  static const std::vector<const ExpSumSet*> found = usable();
  return found;
}

Top top_of(std::span<const float> x) { return best().top_of(x.data(), x.size()); }
double exp_and_sum(std::span<const float> x, double top, double scale, std::span<double> e) {
  // An infinite scale would make 0 * inf of the top itself.
  return best().exp_and_sum(x.data(), x.size(), top, std::min(scale, std::numeric_limits<double>::max()), e.data());
}
void scale_all(std::span<double> x, double factor) { best().scale_all(x.data(), x.size(), factor); }
double sum_of(std::span<const double> x) { return best().sum_of(x.data(), x.size()); }

}  // namespace pgdlm
