#include "models/cpu_ops.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "models/packed_weights.h"

namespace pgdlm {
namespace {

const float* floats(const ggml_tensor* tensor) { return static_cast<const float*>(tensor->data); }
std::size_t stride(const ggml_tensor* tensor, int dimension) { return tensor->nb[dimension] / sizeof(float); }

// ggml's threads must not throw, so a node remembers that its kernel found no memory.
void finish(ggml_tensor* node, bool done) {
  if (!done) std::atomic_ref(node->extra).store(node);
}

void run_pack_rows(ggml_tensor* packed, int index, int count, void*) {
  const ggml_tensor* x = packed->src[0];
  finish(packed, kernels().pack_rows(floats(x), stride(x, 1), static_cast<int>(x->ne[0]), static_cast<int>(x->ne[1]),
                                     packed->data, {index, count}));
}

void run_linear(ggml_tensor* y, int index, int count, void* packed) {
  const ggml_tensor *w = y->src[0], *x = y->src[1], *bias = y->src[2];
  const LinearTask task{.weight = as_matrix(w),
                        .packed = packed,
                        .bias = bias == nullptr ? nullptr : floats(bias),
                        .x = x->data,
                        .x_stride = stride(x, 1),
                        .y = static_cast<float*>(y->data),
                        .y_stride = stride(y, 1),
                        .rows = static_cast<int>(y->ne[1])};
  finish(y, kernels().linear(task, {index, count}));
}

void run_attention(ggml_tensor* out, int index, int count, void* rows) {
  const ggml_tensor *q = out->src[0], *k = out->src[1], *v = out->src[2];
  const auto& batch = *static_cast<const std::vector<AttentionRow>*>(rows);
  const AttentionTask task{.q = floats(q),
                           .k = floats(k),
                           .v = floats(v),
                           .q_stride = stride(q, 2),
                           .k_stride = stride(k, 2),
                           .v_stride = stride(v, 2),
                           .q_head_stride = stride(q, 1),
                           .k_head_stride = stride(k, 1),
                           .v_head_stride = stride(v, 1),
                           .out = static_cast<float*>(out->data),
                           .heads = static_cast<int>(q->ne[1]),
                           .kv_heads = static_cast<int>(k->ne[1]),
                           .size = static_cast<int>(q->ne[0]),
                           .rows = batch.data(),
                           .row_count = static_cast<int>(batch.size())};
  finish(out, kernels().attention(task, {index, count}));
}

// Contiguous columns, dealt out in stretches.
template <class F>
void in_stretches(const ggml_tensor* y, int index, int count, const F& run) {
  const auto total = static_cast<std::size_t>(ggml_nelements(y));
  const std::size_t each = (total / static_cast<std::size_t>(count) + 64) / 64 * 64;
  const std::size_t begin = std::min(total, each * static_cast<std::size_t>(index)),
                    end = std::min(total, begin + each);
  if (begin < end) run(begin, end - begin);
}

template <auto Member>
void run_activation(ggml_tensor* y, int index, int count, void*) {
  in_stretches(y, index, count, [&](std::size_t begin, std::size_t n) {
    (kernels().*Member)(floats(y->src[0]) + begin, static_cast<float*>(y->data) + begin, n);
  });
}

void run_swiglu(ggml_tensor* y, int index, int count, void*) {
  in_stretches(y, index, count, [&](std::size_t begin, std::size_t n) {
    kernels().swiglu(floats(y->src[0]) + begin, floats(y->src[1]) + begin, static_cast<float*>(y->data) + begin, n);
  });
}

template <std::size_t N>
ggml_tensor* node(ggml_context* c, std::int64_t columns, std::int64_t rows, std::array<ggml_tensor*, N> operands,
                  ggml_custom_op_t run, void* data = nullptr) {
  return ggml_custom_4d(c, GGML_TYPE_F32, columns, rows, 1, 1, operands.data(), static_cast<int>(N), run,
                        GGML_N_TASKS_MAX, data);
}

}  // namespace

bool cpu_ran_out(const ggml_tensor* node) { return node->op == GGML_OP_CUSTOM && node->extra != nullptr; }

ggml_tensor* cpu_pack_rows(ggml_context* c, ggml_tensor* x) {
  if (kernels().pack_rows == nullptr) return x;
  const std::size_t bytes = kernels().packed_rows_bytes(static_cast<int>(x->ne[0]), static_cast<int>(x->ne[1]));
  return ggml_custom_4d(c, GGML_TYPE_I8, static_cast<std::int64_t>(bytes), 1, 1, 1, &x, 1, run_pack_rows,
                        GGML_N_TASKS_MAX, nullptr);
}

ggml_tensor* cpu_linear(ggml_context* c, const CpuLinear& w, ggml_tensor* rows, std::int64_t count) {
  void* packed = const_cast<void*>(w.packed);
  if (w.bias == nullptr) return node<2>(c, w.weight->ne[1], count, {w.weight, rows}, run_linear, packed);
  return node<3>(c, w.weight->ne[1], count, {w.weight, rows, w.bias}, run_linear, packed);
}

ggml_tensor* cpu_gelu_erf(ggml_context* c, ggml_tensor* x) {
  return node<1>(c, x->ne[0], x->ne[1], {x}, run_activation<&Kernels::gelu_erf>);
}

ggml_tensor* cpu_gelu_tanh(ggml_context* c, ggml_tensor* x) {
  return node<1>(c, x->ne[0], x->ne[1], {x}, run_activation<&Kernels::gelu_tanh>);
}

ggml_tensor* cpu_swiglu(ggml_context* c, ggml_tensor* gate, ggml_tensor* up) {
  return node<2>(c, gate->ne[0], gate->ne[1], {gate, up}, run_swiglu);
}

ggml_tensor* cpu_attention(ggml_context* c, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v,
                           const std::vector<AttentionRow>& rows) {
  return node<3>(c, q->ne[0] * q->ne[1], q->ne[2], {q, k, v}, run_attention,
                 const_cast<std::vector<AttentionRow>*>(&rows));
}

}  // namespace pgdlm
