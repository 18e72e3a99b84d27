#include <cstdint>
#include <cstdlib>

#include "kernels/kernels.h"

namespace pgdlm::avx512 {
namespace {

constexpr int kLanes = 16;  // floats in a register
constexpr int kRows = 12;   // rows of a tile: two accumulators each, and a few registers for the operands

#include "kernels/kernels_impl.h"

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {.name = "avx512",
                          .packed_bytes = packed_bytes,
                          .pack = pack_weight,
                          .packed_rows_bytes = nullptr,
                          .pack_rows = nullptr,
                          .linear = linear,
                          .attention = attention,
                          .gelu_erf = gelu_erf,
                          .gelu_tanh = gelu_tanh,
                          .swiglu = swiglu,
                          .exercise = exercise};

}  // namespace pgdlm::avx512
