// exp_sum written once for packs of eight doubles. Included by the file of each instruction set inside its own
// namespace, after `Pack` with its operations; every operation is one IEEE operation per lane, and multiply-adds are
// fused everywhere, so all of them give the same bits.

#include "base/plain.h"

constexpr std::size_t kLanes = 8;

// e^x = 2^n e^r with |r| <= ln2/2, the latter by its Taylor polynomial of degree 12. Adding 1.5 * 2^52 rounds to an
// integer and leaves it in the lowest bits, from where it is moved into the exponent.
inline Pack exponential(Pack x) {
  const Pack shifter = all(0x1.8p52);
  const Pack kept = at_least(x, -700.0);
  const Pack shifted = fma(kept, all(1.4426950408889634), shifter);
  const Pack n = minus(shifter, shifted);  // -n
  const Pack r = fma(n, all(0x1.cf79abc9e3b39p-40), fma(n, all(0x1.62e42fefap-1), kept));
  Pack p = all(1.0 / 479001600);
  constexpr double kTerms[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                               1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0,        1.0};
  for (const double term : kTerms) p = fma(p, r, all(term));
  return zero_below(x, -700.0, times_power_of_two(p, shifted));
}

inline double in_order(Pack sums) {
  double lanes[kLanes];
  store(lanes, sums);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// The last few go through a pack that is filled up; what is added must not change a sum.
inline double exp_and_sum(const float* x, std::size_t count, double top, double scale, double* e) {
  Pack sums = all(0);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Pack y = exponential(times(minus(load(x + i), all(top)), all(scale)));
    store(e + i, y);
    sums = plus(sums, y);
  }
  if (i < count) {
    float rest[kLanes];
    double values[kLanes];
    fill_all(rest, kLanes, -__builtin_inff());
    copy_all(x + i, count - i, rest);
    const Pack y = exponential(times(minus(load(rest), all(top)), all(scale)));
    store(values, y);
    copy_all(values, count - i, e + i);
    sums = plus(sums, y);
  }
  return in_order(sums);
}

inline double sum_of(const double* x, std::size_t count) {
  Pack sums = all(0);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sums = plus(sums, load(x + i));
  if (i < count) {
    double rest[kLanes] = {};
    copy_all(x + i, count - i, rest);
    sums = plus(sums, load(rest));
  }
  return in_order(sums);
}

inline void scale_all(double* x, std::size_t count, double factor) {
  for (std::size_t i = 0; i < count; ++i) x[i] *= factor;
}

inline Top top_of(const float* x, std::size_t count) {
  constexpr std::size_t kWide = 2 * kLanes;
  float tops[kWide];
  std::uint32_t odd[kWide] = {};
  fill_all(tops, kWide, -__builtin_inff());
  for (std::size_t i = 0; i < count; i += kWide) {
    const std::size_t here = least(kWide, count - i);
    if (here == kWide) {  // a constant: the compiler makes vectors of it
      for (std::size_t j = 0; j < kWide; ++j) {
        tops[j] = x[i + j] > tops[j] ? x[i + j] : tops[j];
        odd[j] |= x[i + j] == x[i + j] ? 0U : 1U;
      }
    } else {
      for (std::size_t j = 0; j < here; ++j) {
        tops[j] = x[i + j] > tops[j] ? x[i + j] : tops[j];
        odd[j] |= x[i + j] == x[i + j] ? 0U : 1U;
      }
    }
  }
  Top top{tops[0], odd[0] != 0};
  for (std::size_t j = 1; j < kWide; ++j) top = {most(top.value, tops[j]), top.nan || odd[j] != 0};
  return top;
}
