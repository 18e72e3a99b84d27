#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/exp_sum_set.h"

namespace pgdlm::baseline {
namespace {

struct Pack {
  double at[8];
};
template <class F>
inline Pack each(const F& f) {
  Pack y;
  for (int j = 0; j < 8; ++j) y.at[j] = f(j);
  return y;
}
inline Pack all(double x) {
  return each([&](int) { return x; });
}
inline Pack load(const float* p) {
  return each([&](int j) { return static_cast<double>(p[j]); });
}
inline Pack load(const double* p) {
  return each([&](int j) { return p[j]; });
}
inline void store(double* p, const Pack& x) {
  for (int j = 0; j < 8; ++j) p[j] = x.at[j];
}
inline Pack plus(const Pack& a, const Pack& b) {
  return each([&](int j) { return a.at[j] + b.at[j]; });
}
inline Pack minus(const Pack& a, const Pack& b) {
  return each([&](int j) { return a.at[j] - b.at[j]; });
}
inline Pack times(const Pack& a, const Pack& b) {
  return each([&](int j) { return a.at[j] * b.at[j]; });
}
inline Pack fma(const Pack& a, const Pack& b, const Pack& c) {
  return each([&](int j) { return __builtin_fma(a.at[j], b.at[j], c.at[j]); });
}
inline Pack zero_below(const Pack& x, double bound, const Pack& y) {
  return each([&](int j) { return x.at[j] >= bound ? y.at[j] : 0.0; });
}
inline Pack times_power_of_two(const Pack& x, const Pack& shifted) {
  return each([&](int j) {
    std::uint64_t bits = 0, n = 0;
    double y = 0;
    __builtin_memcpy(&bits, &x.at[j], sizeof bits);
    __builtin_memcpy(&n, &shifted.at[j], sizeof n);
    bits += n << 52;
    __builtin_memcpy(&y, &bits, sizeof y);
    return y;
  });
}

#include "base/exp_sum_impl.h"

}  // namespace

extern const ExpSumSet kExpSum;
const ExpSumSet kExpSum = {top_of, exp_and_sum, scale_all, sum_of};

}  // namespace pgdlm::baseline
