#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/exp_sum_set.h"

namespace pgdlm::baseline {
namespace {

using Pack = std::array<double, 8>;
template <class F>
inline Pack each(const F& f) {
  Pack y;
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = f(j);
  return y;
}
inline Pack all(double x) {
  return each([&](std::size_t) { return x; });
}
inline Pack load(const float* p) {
  return each([&](std::size_t j) { return static_cast<double>(p[j]); });
}
inline Pack load(const double* p) {
  return each([&](std::size_t j) { return p[j]; });
}
inline void store(double* p, const Pack& x) { std::copy(x.begin(), x.end(), p); }
inline Pack plus(const Pack& a, const Pack& b) {
  return each([&](std::size_t j) { return a[j] + b[j]; });
}
inline Pack minus(const Pack& a, const Pack& b) {
  return each([&](std::size_t j) { return a[j] - b[j]; });
}
inline Pack times(const Pack& a, const Pack& b) {
  return each([&](std::size_t j) { return a[j] * b[j]; });
}
inline Pack fma(const Pack& a, const Pack& b, const Pack& c) {
  return each([&](std::size_t j) { return std::fma(a[j], b[j], c[j]); });
}
inline Pack at_least(const Pack& x, double least) {
  return each([&](std::size_t j) { return x[j] > least ? x[j] : least; });
}
inline Pack zero_below(const Pack& x, double least, const Pack& y) {
  return each([&](std::size_t j) { return x[j] >= least ? y[j] : 0.0; });
}
inline Pack times_power_of_two(const Pack& x, const Pack& shifted) {
  return each([&](std::size_t j) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x[j]) + (std::bit_cast<std::uint64_t>(shifted[j]) << 52));
  });
}

#include "base/exp_sum_impl.h"

}  // namespace

extern const ExpSumSet kExpSum;
const ExpSumSet kExpSum = {top_of, exp_and_sum, scale_all, sum_of};

}  // namespace pgdlm::baseline
