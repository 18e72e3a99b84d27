#include <cstdint>
#include <cstdlib>

#include "kernels/kernels.h"

namespace pgdlm::baseline {
namespace {

constexpr int kLanes = 4;  // floats in a register
constexpr int kRows = 4;   // rows of a tile: two accumulators each, and a few registers for the operands

#include "kernels/kernels_impl.h"

}  // namespace

extern const Kernels kKernels;
constinit const Kernels kKernels = kernels_named("baseline");

}  // namespace pgdlm::baseline
