#include "models/packed_weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include <ggml-cpu.h>

namespace pgdlm {
namespace {

constexpr std::size_t kLine = 64;  // of a cache

// Rows of a stored matrix as floats. ggml-cpu's own converters use the processor's instructions.
auto decoder(ggml_type type) -> void (*)(const void*, float*, std::int64_t) {
  switch (type) {
    case GGML_TYPE_F32: return nullptr;
    case GGML_TYPE_F16:
      return [](const void* row, float* values, std::int64_t n) {
        ggml_cpu_fp16_to_fp32(static_cast<const ggml_fp16_t*>(row), values, n);
      };
    case GGML_TYPE_BF16:
      return [](const void* row, float* values, std::int64_t n) {
        ggml_cpu_bf16_to_fp32(static_cast<const ggml_bf16_t*>(row), values, n);
      };
    default: return ggml_get_type_traits(type)->to_float;
  }
}

// The file's own pages are hardly needed any more: they go first when memory is short.
void set_aside(const void* data, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
#ifdef MADV_COLD
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_COLD);
#endif
}

// What this process may use: the machine's memory, or its control group's share of it.
std::size_t usable_memory() {
  std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t limit = 0;  // the file says "max" where there is none
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace

int parts_of(ggml_type type) { return type == GGML_TYPE_F32 ? 3 : type == GGML_TYPE_BF16 ? 1 : 2; }

Matrix as_matrix(const ggml_tensor* weight) {
  return {.data = weight->data,
          .stride = weight->nb[1],
          .decode = decoder(weight->type),
          .in = static_cast<int>(weight->ne[0]),
          .out = static_cast<int>(weight->ne[1]),
          .parts = parts_of(weight->type)};
}

void PackedWeights::Free::operator()(void* memory) const { std::free(memory); }

std::size_t PackedWeights::default_budget() { return usable_memory() / 8; }

const void* PackedWeights::find_or_pack(const ggml_tensor* weight) {
  const Key key{weight->data, weight->ne[1]};
  if (const auto known = packed_.find(key); known != packed_.end()) return known->second.get();
  const Matrix matrix = as_matrix(weight);
  const std::size_t bytes = (kernels().packed_bytes(matrix) + kLine - 1) / kLine * kLine;
  std::unique_ptr<void, Free> memory;
  if (used_bytes_ + bytes <= budget_bytes_) memory.reset(std::aligned_alloc(kLine, bytes));
  if (!memory || !kernels().pack(matrix, memory.get())) {
    refused_ = true;
    return nullptr;
  }
  set_aside(weight->data, ggml_nbytes(weight));
  used_bytes_ += bytes;
  return packed_.emplace(key, std::move(memory)).first->second.get();
}

}  // namespace pgdlm
