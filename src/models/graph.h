// The graph of one forward. A batch is rows of tokens of different lengths, laid end to end; everything but attention
// works on that one long row. Attention never mixes rows: rows of equal shape share one four-dimensional product, and
// there is no mask over the batch. Owned by the Runtime for the length of a forward.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <ggml.h>

#include "kernels/kernels.h"
#include "models/packed_weights.h"

namespace pgdlm {

// One row of a batch.
struct RowShape {
  int length = 0;  // tokens
  int asked = 0;   // positions whose hidden state is wanted
  int past = 0;    // tokens before these whose keys and values are already known (causal networks only)
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

// Queries see keys of their own row: all of them, or (causal) those up to themselves.
struct Attention {
  int layer = 0;
  bool causal = false;
  bool asked_only = false;  // the queries are the asked positions, not all
};

// Rotary position embedding.
struct Rope {
  int mode = 0;  // GGML_ROPE_TYPE_NORMAL or _NEOX
  int dimensions = 0;
  float base = 10000;
};

// Keys and values of one layer as the graph made them, to be kept for rows that go on.
struct KeyValue {
  ggml_tensor *key = nullptr, *value = nullptr;  // [head, kv heads, tokens]
};

class Graph {
 public:
  // No rows, no layers: the graph of a head. With `packed`, on the CPU, our kernels do the work that ggml's would do
  // more slowly; null: the plain graph for any device.
  Graph(std::span<const RowShape> rows, int layers, PackedWeights* packed);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  ggml_context* context() const { return context_; }
  ggml_cgraph* nodes() const { return nodes_; }
  bool on_cpu() const { return packed_ != nullptr; }

  ggml_tensor* input(ggml_type type, std::int64_t columns, std::int64_t rows = 1);
  // Made when first asked for; what no layer asked for need not be set.
  ggml_tensor* tokens() { return once(tokens_, token_count_); }        // [tokens] i32
  ggml_tensor* positions() { return once(positions_, token_count_); }  // [tokens] i32, from the start of each row
  ggml_tensor* asked() { return once(asked_, asked_count_); }          // [asked] i32, which of all tokens
  ggml_tensor* asked_positions() { return once(asked_positions_, asked_count_); }  // [asked] i32
  // What was made of them, null if nothing.
  struct Inputs {
    ggml_tensor *tokens, *positions, *asked, *asked_positions;
  };
  Inputs inputs() const { return {tokens_, positions_, asked_, asked_positions_}; }
  bool asks_all() const { return asked_count_ == token_count_; }
  int token_count() const { return token_count_; }

  // Inputs for the rows' known keys and values; one pair per row that has a past, in order. [kv size, past]
  const std::vector<std::vector<KeyValue>>& pasts() const { return pasts_; }  // [layer][row]
  const std::vector<KeyValue>& fresh() const { return fresh_; }               // [layer], of a causal network

  // x W^T + bias, on the CPU only
  ggml_tensor* linear_on_cpu(ggml_tensor* weight, ggml_tensor* bias, ggml_tensor* x);
  // q [head, heads, queries], k and v [head, kv heads, tokens] -> [head * heads, queries]
  ggml_tensor* attend(ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, Attention attention);

  ggml_tensor* name(ggml_tensor* tensor, const char* label, int layer = -1);
  void finish(ggml_tensor* output);

 private:
  struct Group {
    RowShape shape;
    int rows = 0;
    int first_token = 0, first_asked = 0;
  };

  ggml_tensor* once(ggml_tensor*& made, int count);
  ggml_tensor* attend_group(const Group& group, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, Attention attention);
  ggml_tensor* side_by_side(std::vector<ggml_tensor*> parts, int dimension);
  void keep(ggml_tensor* k, ggml_tensor* v);
  KeyValue with_past(const Group& group, ggml_tensor* k, ggml_tensor* v, int layer);
  KeyValue with_pasts(ggml_tensor* k, ggml_tensor* v, int layer);

  PackedWeights* packed_;
  ggml_context* context_ = nullptr;
  ggml_cgraph* nodes_ = nullptr;
  std::map<const ggml_tensor*, ggml_tensor*> packed_rows_;  // of inputs that several layers read
  std::vector<Group> groups_, asked_groups_;
  std::vector<AttentionRow> all_rows_, asked_rows_, causal_rows_;  // the same for our kernel
  int token_count_ = 0, asked_count_ = 0;
  ggml_tensor *tokens_ = nullptr, *positions_ = nullptr, *asked_ = nullptr, *asked_positions_ = nullptr;
  std::vector<std::vector<KeyValue>> pasts_;
  std::vector<KeyValue> fresh_;
};

}  // namespace pgdlm
