#include "base/exp_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

// The compiler makes one copy for each instruction set; the dynamic linker takes the best the processor has.
#if defined(__x86_64__) && defined(__ELF__) && !defined(PGDLM_NO_CLONES)
#define PGDLM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PGDLM_CLONES
#endif

namespace pgdlm {
namespace {

constexpr std::size_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

// e^x = 2^n e^r with |r| <= ln2/2, the latter by its Taylor polynomial of degree 13. Adding 1.5 * 2^52 rounds to an
// integer and leaves it in the lowest bits, from where it is moved into the exponent.
inline double exponential(double x) {
  constexpr double kShifter = 0x1.8p52;
  const double kept = x < -700.0 ? -700.0 : x;
  const double shifted = kept * 1.4426950408889634 + kShifter;
  const double n = shifted - kShifter;
  const double r = (kept - n * 0x1.62e42fefap-1) - n * 0x1.cf79abc9e3b39p-40;
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(shifted) << 52);
  return x < -700.0 ? 0.0 : std::bit_cast<double>(bits);
}

double in_order(const Lanes& lanes) {
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

PGDLM_CLONES Top top_of(std::span<const double> x) {
  Lanes tops;
  tops.fill(-std::numeric_limits<double>::infinity());
  std::array<std::uint64_t, kLanes> odd{};
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) {
      tops[j] = x[i + j] > tops[j] ? x[i + j] : tops[j];
      odd[j] |= x[i + j] == x[i + j] ? 0U : 1U;
    }
  Top top{*std::ranges::max_element(tops), false};
  for (; i < x.size(); ++i) {
    top.value = std::max(top.value, x[i]);
    odd[0] |= x[i] == x[i] ? 0U : 1U;
  }
  for (const std::uint64_t o : odd) top.nan = top.nan || o != 0;
  return top;
}

PGDLM_CLONES double exp_and_sum(std::span<double> x, double top, double scale) {
  Lanes sums{};
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) {
      x[i + j] = exponential((x[i + j] - top) * scale);
      sums[j] += x[i + j];
    }
  for (std::size_t j = 0; i < x.size(); ++i, ++j) {
    x[i] = exponential((x[i] - top) * scale);
    sums[j] += x[i];
  }
  return in_order(sums);
}

PGDLM_CLONES double sum_of(std::span<const double> x) {
  Lanes sums{};
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) sums[j] += x[i + j];
  for (std::size_t j = 0; i < x.size(); ++i, ++j) sums[j] += x[i];
  return in_order(sums);
}

}  // namespace pgdlm
