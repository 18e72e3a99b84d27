#include <vector>

#include "kernels/kernels.h"

namespace pgdlm {

#if defined(__x86_64__)
namespace amx {
bool usable();
extern const Kernels kKernels;
}  // namespace amx
namespace avx512 {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
#endif
namespace baseline {
extern const Kernels kKernels;
}

namespace {

std::vector<const Kernels*> usable() {
  std::vector<const Kernels*> found;
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (avx512 && amx::usable()) found.push_back(&amx::kKernels);
  if (avx512) found.push_back(&avx512::kKernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&avx2::kKernels);
#endif
  found.push_back(&baseline::kKernels);
  return found;
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> found = usable();
  return found;
}

const Kernels& kernels() { return *all_kernels().front(); }

}  // namespace pgdlm
