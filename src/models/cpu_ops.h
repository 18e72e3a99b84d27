// Our CPU kernels as nodes of a ggml graph. Only for a device whose memory is ours.
#pragma once

#include <vector>

#include <ggml.h>

#include "kernels/kernels.h"

namespace pgdlm {

// Whether a kernel of this node, which has been run, found no memory: its values are not there.
bool cpu_ran_out(const ggml_tensor* node);

// x in the form the linear kernel reads: x itself, or a packed copy that several layers can share.
ggml_tensor* cpu_pack_rows(ggml_context* c, ggml_tensor* x);

struct CpuLinear {
  ggml_tensor *weight = nullptr, *bias = nullptr;  // the bias may be null
  const void* packed = nullptr;                    // of PackedWeights, or null
};
ggml_tensor* cpu_linear(ggml_context* c, const CpuLinear& w, ggml_tensor* rows, std::int64_t count);
ggml_tensor* cpu_gelu_erf(ggml_context* c, ggml_tensor* x);
ggml_tensor* cpu_gelu_tanh(ggml_context* c, ggml_tensor* x);
ggml_tensor* cpu_swiglu(ggml_context* c, ggml_tensor* gate, ggml_tensor* up);

// q [size, heads, queries], k and v [size, kv heads, positions] -> [size * heads, queries]. `rows` must outlive the
// graph.
ggml_tensor* cpu_attention(ggml_context* c, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v,
                           const std::vector<AttentionRow>& rows);

}  // namespace pgdlm
