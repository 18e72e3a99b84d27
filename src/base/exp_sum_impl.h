// exp_sum written once for packs of eight doubles. Included by the file of each instruction set inside its own
// namespace, after `Pack` with its operations; every operation is one IEEE operation per lane, and multiply-adds are
// fused everywhere, so all of them give the same bits.

#include "base/plain.h"

constexpr std::size_t kLanes = 8;

// e^x = 2^n e^r with |r| <= ln2/2, the latter by the polynomial of degree 10 that begins with 1 + r and has the least
// relative error, 2.9e-16. Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest bits, from where it is
// moved into the exponent. Far below zero this makes nonsense, which is put to zero at the end.
inline Pack exponential(Pack x) {
  const Pack shifter = all(0x1.8p52);
  const Pack shifted = fma(x, all(1.4426950408889634), shifter);
  const Pack n = minus(shifter, shifted);  // -n
  const Pack r = fma(n, all(0x1.cf79abc9e3b39p-40), fma(n, all(0x1.62e42fefap-1), x));
  constexpr double kTerms[] = {0x1.72e91af343d7bp-19,
                               0x1.a01b7c4df4dcbp-16,
                               0x1.a0198d58598afp-13,
                               0x1.6c16c0c831c81p-10,
                               0x1.11111125b3e54p-7,
                               0x1.55555555890c0p-5,
                               0x1.55555555507c5p-3,
                               0x1.ffffffffffed2p-2,
                               1.0,
                               1.0};
  Pack p = all(0x1.2707a76dfb4a9p-22);
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

// In the compiler's own vectors; a largest value is the same in any order.
typedef float Floats __attribute__((vector_size(16 * sizeof(float))));
typedef std::int32_t Marks __attribute__((vector_size(16 * sizeof(float))));
struct Tops {
  Floats value;
  Marks odd;

  void look_at(const float* x) {
    Floats here;
    Marks bits;
    __builtin_memcpy(&here, x, sizeof here);
    __builtin_memcpy(&bits, x, sizeof bits);
    value = here > value ? here : value;
    odd |= (bits & 0x7fffffff) > 0x7f800000;  // beyond infinity lie those that are no numbers
  }
};

inline Top top_of(const float* x, std::size_t count) {
  constexpr std::size_t kWide = 16, kAtOnce = 4;  // so many comparisons do not wait for each other
  Tops tops[kAtOnce];
  for (Tops& t : tops) t = {-__builtin_inff() - Floats{}, Marks{}};
  std::size_t i = 0;
  for (; i + kAtOnce * kWide <= count; i += kAtOnce * kWide)
    for (std::size_t j = 0; j < kAtOnce; ++j) tops[j].look_at(x + i + j * kWide);
  Top top{-__builtin_inff(), false};
  for (; i < count; ++i) top = {most(top.value, x[i]), top.nan || __builtin_isnan(x[i])};
  for (const Tops& t : tops)
    for (std::size_t lane = 0; lane < kWide; ++lane)
      top = {most(top.value, t.value[lane]), top.nan || t.odd[lane] != 0};
  return top;
}
