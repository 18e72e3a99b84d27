// The CPU's own versions of what a forward spends its time in: products with a batch of rows, attention within rows,
// and activations. ggml multiplies one pair of vectors at a time; here a tile of outputs stays in registers while the
// operands stream by. Every output is one sum in the order of its inputs, so that a row comes out the same bit for bit
// in any batch and with any number of threads.
//
// Pure functions on caller's memory. The work of one call is divided among `count` threads, each calling with its own
// `index`; together they write everything once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pgdlm {

struct Share {
  int index = 0, count = 1;
};

// y [rows, out] = x [rows, in] W^T + bias. W is [out, in], its rows of any storage type.
struct LinearTask {
  const void* weight = nullptr;
  std::size_t weight_stride = 0;                                           // bytes from one row of W to the next
  void (*decode)(const void* row, float* values, std::int64_t) = nullptr;  // null: the rows are float
  const float* bias = nullptr;                                             // null: none
  const float* x = nullptr;
  std::size_t x_stride = 0;  // floats from one row to the next
  float* y = nullptr;
  std::size_t y_stride = 0;
  int in = 0, out = 0, rows = 0;
};

// One row of a batch: its queries see its own keys only.
struct AttentionRow {
  int first_query = 0, queries = 0;
  int first_key = 0, keys = 0;
};

// out[query, head, :] = softmax(q k^T / sqrt(size)) v, for every row and head. Strides are in floats.
struct AttentionTask {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;                 // from one position to the next
  std::size_t q_head_stride = 0, k_head_stride = 0, v_head_stride = 0;  // from one head to the next
  float* out = nullptr;                                                 // [queries, heads, size]
  int heads = 0, kv_heads = 0, size = 0;
  std::span<const AttentionRow> rows;
};

// One set per instruction set. `y` may be `x`.
struct Kernels {
  const char* name;
  void (*linear)(const LinearTask&, Share);
  void (*attention)(const AttentionTask&, Share);
  void (*gelu_erf)(const float* x, float* y, std::size_t count);
  void (*gelu_tanh)(const float* x, float* y, std::size_t count);
  void (*swiglu)(const float* gate, const float* up, float* y, std::size_t count);  // silu(gate) * up
  // Multiplies and adds in registers alone, the fastest this core can; returns how many floating-point operations.
  double (*exercise)(std::int64_t rounds);
};

// The best this processor can run.
const Kernels& kernels();
// All it can run, the best first.
std::span<const Kernels* const> all_kernels();

}  // namespace pgdlm
