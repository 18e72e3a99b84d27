#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <immintrin.h>

#include "base/exp_sum_set.h"

namespace pgdlm::avx2 {
namespace {

struct Pack {
  __m256d a, b;
};
inline Pack all(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
inline Pack load(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))}; }
inline Pack load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
inline void store(double* p, Pack x) {
  _mm256_storeu_pd(p, x.a);
  _mm256_storeu_pd(p + 4, x.b);
}
inline Pack plus(Pack x, Pack y) { return {_mm256_add_pd(x.a, y.a), _mm256_add_pd(x.b, y.b)}; }
inline Pack minus(Pack x, Pack y) { return {_mm256_sub_pd(x.a, y.a), _mm256_sub_pd(x.b, y.b)}; }
inline Pack times(Pack x, Pack y) { return {_mm256_mul_pd(x.a, y.a), _mm256_mul_pd(x.b, y.b)}; }
inline Pack fma(Pack x, Pack y, Pack z) { return {_mm256_fmadd_pd(x.a, y.a, z.a), _mm256_fmadd_pd(x.b, y.b, z.b)}; }
inline Pack zero_below(Pack x, double least, Pack y) {
  const __m256d bound = _mm256_set1_pd(least);
  return {_mm256_and_pd(_mm256_cmp_pd(x.a, bound, _CMP_GE_OQ), y.a),
          _mm256_and_pd(_mm256_cmp_pd(x.b, bound, _CMP_GE_OQ), y.b)};
}
inline __m256d with_exponent(__m256d x, __m256d shifted) {
  return _mm256_castsi256_pd(
      _mm256_add_epi64(_mm256_castpd_si256(x), _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52)));
}
inline Pack times_power_of_two(Pack x, Pack shifted) {
  return {with_exponent(x.a, shifted.a), with_exponent(x.b, shifted.b)};
}

#include "base/exp_sum_impl.h"

}  // namespace

extern const ExpSumSet kExpSum;
const ExpSumSet kExpSum = {top_of, exp_and_sum, scale_all, sum_of};

}  // namespace pgdlm::avx2
