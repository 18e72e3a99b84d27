// Vectors of `kLanes` floats in the compiler's own vector types, and the functions of them that kernels need. Included
// by the file of each instruction set inside its own namespace; kLanes is defined there.

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int32_t IntVec __attribute__((vector_size(kLanes * sizeof(float))));

inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
// One rounding. Nothing may stand between the two operations, such as a sanitizer's check of an index, or the compiler
// leaves them apart in some tiles and not in others.
inline Vec fused(Vec a, Vec b, Vec c) { return a * b + c; }
inline Vec splat(float x) { return x - Vec{}; }  // not x + 0, which is an addition: it makes 0 of -0
inline Vec pick(IntVec mask, Vec yes, Vec no) {
  return reinterpret_cast<Vec>((mask & reinterpret_cast<IntVec>(yes)) | (~mask & reinterpret_cast<IntVec>(no)));
}
inline Vec greater(Vec a, Vec b) { return pick(a > b, a, b); }
inline Vec magnitude(Vec x) { return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(x) & 0x7fffffff); }
inline Vec with_sign_of(Vec x, Vec sign) {
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(x) | (reinterpret_cast<IntVec>(sign) & INT32_MIN));
}

// e^x = 2^n e^r, |r| <= ln2/2; relative error about 1e-7. Below -87 it is 0 for our purposes, above 88 it stays finite.
inline Vec exponential(Vec x) {
  x = pick(x < -87.0F, splat(-87.0F), pick(x > 88.0F, splat(88.0F), x));
  const Vec shifter = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to the nearest integer
  const Vec n = (x * 1.44269504F + shifter) - shifter;
  const Vec r = (x - n * 0.693145752F) - n * 1.42860677e-6F;
  Vec p = splat(1.3981999e-3F);
  p = p * r + 8.3334519e-3F;
  p = p * r + 4.1665795e-2F;
  p = p * r + 1.6666665e-1F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const IntVec exponent = (__builtin_convertvector(n, IntVec) + 127) << 23;
  return p * reinterpret_cast<Vec>(exponent);
}

inline Vec sigmoid(Vec x) { return 1.0F / (1.0F + exponential(-x)); }

// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7.
inline Vec error_function(Vec x) {
  const Vec z = magnitude(x);
  const Vec t = 1.0F / (1.0F + 0.3275911F * z);
  Vec p = splat(1.061405429F);
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  return with_sign_of(1.0F - p * t * exponential(-z * z), x);
}
