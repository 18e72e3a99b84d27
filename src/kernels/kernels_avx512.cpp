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
constinit const Kernels kKernels = kernels_named("avx512");

}  // namespace pgdlm::avx512
