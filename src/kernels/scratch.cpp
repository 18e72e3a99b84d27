#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "kernels/kernels.h"

namespace pgdlm {
namespace {

std::atomic<std::size_t> limit = SIZE_MAX;

}  // namespace

void* scratch_memory(std::size_t bytes) noexcept { return bytes > limit.load() ? nullptr : std::malloc(bytes); }

void limit_scratch(std::size_t bytes) noexcept { limit = bytes; }

}  // namespace pgdlm
