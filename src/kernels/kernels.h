// The CPU's own versions of what a forward spends its time in: products with a batch of rows, attention within rows,
// and activations. ggml multiplies one pair of vectors at a time; here a tile of outputs stays in registers while the
// operands stream by. Every output is one sum in the order of its inputs, so that a row comes out the same bit for bit
// in any batch and with any number of threads.
//
// Pure functions on caller's memory. The work of one call is divided among `count` threads, each calling with its own
// `index`; together they write everything once. They run on threads that must not throw: one that finds no memory for
// itself says false and leaves its part unwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pgdlm {

struct Share {
  int index = 0, count = 1;
};

// W [out, in], its rows of any storage type.
struct Matrix {
  const void* data = nullptr;
  std::size_t stride = 0;                                                  // bytes from one row to the next
  void (*decode)(const void* row, float* values, std::int64_t) = nullptr;  // null: the rows are float
  int in = 0, out = 0;
  int parts = 3;  // how many numbers of 8 bits it takes to hold a weight: 3 for f32, 2 for f16, 1 for bf16
};

// y [rows, out] = x [rows, in] W^T + bias.
struct LinearTask {
  Matrix weight;
  const void* packed = nullptr;  // all panels of the weight, if somebody keeps them; null: they are packed on the way
  const float* bias = nullptr;   // null: none
  const void* x = nullptr;       // floats, or what pack_rows made of them
  std::size_t x_stride = 0;      // floats from one row to the next; not of packed rows
  float* y = nullptr;
  std::size_t y_stride = 0;
  int rows = 0;
};

// One row of a batch: its queries see its own keys only.
struct AttentionRow {
  int first_query = 0, queries = 0;
  int first_key = 0, keys = 0;
  bool causal = false;  // the last query sees all keys, each one before it one less
};

// out[query, head, :] = softmax(q k^T / sqrt(size)) v, for every row and head. Strides are in floats.
struct AttentionTask {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;                 // from one position to the next
  std::size_t q_head_stride = 0, k_head_stride = 0, v_head_stride = 0;  // from one head to the next
  float* out = nullptr;                                                 // [queries, heads, size]
  int heads = 0, kv_heads = 0, size = 0;
  const AttentionRow* rows = nullptr;
  int row_count = 0;
};

// One set per instruction set. `y` may be `x`.
struct Kernels {
  const char* name;
  // A weight is cut into panels of some of its rows, laid out as the kernel reads them.
  std::size_t (*packed_bytes)(const Matrix& weight);
  bool (*pack)(const Matrix& weight, void* packed);
  // Where the kernel wants x in another form too: bytes of it, and the making. Null: floats will do.
  std::size_t (*packed_rows_bytes)(int in, int rows);
  bool (*pack_rows)(const float* x, std::size_t stride, int in, int rows, void* packed, Share);
  bool (*linear)(const LinearTask&, Share);
  bool (*attention)(const AttentionTask&, Share);
  void (*gelu_erf)(const float* x, float* y, std::size_t count);
  void (*gelu_tanh)(const float* x, float* y, std::size_t count);
  void (*swiglu)(const float* gate, const float* up, float* y, std::size_t count);  // silu(gate) * up
  // Multiplies and adds in registers alone, as for weights of so many parts, the fastest this core can; returns how
  // many floating-point operations.
  double (*exercise)(std::int64_t rounds, int parts);
};

// Memory of a kernel for the length of a call, to be freed; null if there is none.
void* scratch_memory(std::size_t bytes) noexcept;
void limit_scratch(std::size_t bytes) noexcept;  // for tests: there is none for larger requests

// The best this processor can run.
const Kernels& kernels();
// All it can run, the best first.
std::span<const Kernels* const> all_kernels();

}  // namespace pgdlm
