#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <immintrin.h>

#include "base/exp_sum_set.h"

namespace pgdlm::avx512 {
namespace {

using Pack = __m512d;
inline Pack all(double x) { return _mm512_set1_pd(x); }
inline Pack load(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
inline Pack load(const double* p) { return _mm512_loadu_pd(p); }
inline void store(double* p, Pack x) { _mm512_storeu_pd(p, x); }
inline Pack plus(Pack a, Pack b) { return _mm512_add_pd(a, b); }
inline Pack minus(Pack a, Pack b) { return _mm512_sub_pd(a, b); }
inline Pack times(Pack a, Pack b) { return _mm512_mul_pd(a, b); }
inline Pack fma(Pack a, Pack b, Pack c) { return _mm512_fmadd_pd(a, b, c); }
inline Pack zero_below(Pack x, double least, Pack y) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, all(least), _CMP_GE_OQ), y);
}
inline Pack times_power_of_two(Pack x, Pack shifted) {
  return _mm512_castsi512_pd(
      _mm512_add_epi64(_mm512_castpd_si512(x), _mm512_slli_epi64(_mm512_castpd_si512(shifted), 52)));
}

#include "base/exp_sum_impl.h"

}  // namespace

extern const ExpSumSet kExpSum;
const ExpSumSet kExpSum = {top_of, exp_and_sum, scale_all, sum_of};

}  // namespace pgdlm::avx512
