#include "models/graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "models/cpu_ops.h"

namespace pgdlm {
namespace {

// Tensors, views included. Attention makes some twenty for each group of rows with a past; a batch of rows that are all
// different is the worst case.
constexpr std::size_t kNodesPerLayer = 64, kNodesPerGroup = 32;

}  // namespace

// Neighbours of equal shape make a group; where every query counts, it does not matter which are asked.
Graph::Graph(std::span<const RowShape> rows, int layers, PackedWeights* packed) : packed_(packed) {
  const auto join = [&](std::vector<Group>& groups, RowShape shape) {
    if (groups.empty() || groups.back().shape != shape || shape.past > 0)
      groups.push_back({shape, 0, token_count_, asked_count_});
    ++groups.back().rows;
  };
  int keys = 0;
  for (const RowShape& row : rows) {
    join(groups_, {row.length, 0, row.past});
    join(asked_groups_, row);
    all_rows_.push_back({token_count_, row.length, token_count_, row.length});
    asked_rows_.push_back({asked_count_, row.asked, token_count_, row.length});
    causal_rows_.push_back({token_count_, row.length, keys, row.past + row.length, true});
    keys += row.past + row.length;
    token_count_ += row.length;
    asked_count_ += row.asked;
  }
  const std::size_t size = (static_cast<std::size_t>(layers) + 1) * (kNodesPerLayer + groups_.size() * kNodesPerGroup) +
                           asked_groups_.size() * kNodesPerGroup;
  const std::size_t bytes = size * ggml_tensor_overhead() + ggml_graph_overhead_custom(size, false);
  context_ = ggml_init({.mem_size = bytes, .mem_buffer = nullptr, .no_alloc = true});
  if (context_ == nullptr) throw Error(ErrorCode::exhausted, "no memory for the graph of a forward");
  nodes_ = ggml_new_graph_custom(context_, size, false);
}

Graph::~Graph() { ggml_free(context_); }

ggml_tensor* Graph::input(ggml_type type, std::int64_t columns, std::int64_t rows) {
  ggml_tensor* made = ggml_new_tensor_2d(context_, type, columns, rows);
  ggml_set_input(made);
  return made;
}

ggml_tensor* Graph::linear_on_cpu(ggml_tensor* weight, ggml_tensor* bias, ggml_tensor* x) {
  ggml_tensor*& rows = packed_rows_[x];
  if (rows == nullptr) rows = cpu_pack_rows(context_, x);
  return cpu_linear(context_, {weight, bias, packed_->find_or_pack(weight)}, rows, x->ne[1]);
}

ggml_tensor* Graph::once(ggml_tensor*& made, int count) {
  if (made == nullptr) made = input(GGML_TYPE_I32, count);
  return made;
}

ggml_tensor* Graph::name(ggml_tensor* tensor, const char* label, int layer) {
  if (layer < 0)
    ggml_set_name(tensor, label);
  else
    ggml_format_name(tensor, "%s-%d", label, layer);
  return tensor;
}

void Graph::finish(ggml_tensor* output) {
  ggml_set_output(output);
  ggml_build_forward_expand(nodes_, output);
}

// The known keys and values of a row stand before its new ones.
KeyValue Graph::with_past(const Group& group, ggml_tensor* k, ggml_tensor* v, int layer) {
  if (group.shape.past == 0) return {k, v};
  pasts_.resize(std::max<std::size_t>(pasts_.size(), static_cast<std::size_t>(layer) + 1));
  const auto known = [&](const ggml_tensor* fresh) {
    ggml_tensor* made = ggml_new_tensor_4d(context_, fresh->type, fresh->ne[0], fresh->ne[1], group.shape.past, 1);
    ggml_set_input(made);
    return made;
  };
  const KeyValue past{known(k), known(v)};
  pasts_[layer].push_back(past);
  return {ggml_concat(context_, past.key, k, 2), ggml_concat(context_, past.value, v, 2)};
}

// The same of all rows, one behind the other.
KeyValue Graph::with_pasts(ggml_tensor* k, ggml_tensor* v, int layer) {
  std::vector<ggml_tensor*> all_keys, all_values;
  for (const Group& group : groups_) {
    const auto part = [&](ggml_tensor* all) {
      return ggml_view_3d(context_, all, all->ne[0], all->ne[1], std::int64_t{group.shape.length} * group.rows,
                          all->nb[1], all->nb[2], all->nb[2] * static_cast<std::size_t>(group.first_token));
    };
    const KeyValue kv = with_past(group, part(k), part(v), layer);
    all_keys.push_back(kv.key);
    all_values.push_back(kv.value);
  }
  return {side_by_side(std::move(all_keys), 2), side_by_side(std::move(all_values), 2)};
}

ggml_tensor* Graph::attend_group(const Group& group, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, Attention a) {
  const int queries = a.asked_only ? group.shape.asked : group.shape.length;
  const int first_query = a.asked_only ? group.first_asked : group.first_token;
  const auto part = [&](ggml_tensor* all, int first, int length) {  // [head, heads, length, rows]
    return ggml_view_4d(context_, all, all->ne[0], all->ne[1], length, group.rows, all->nb[1], all->nb[2],
                        all->nb[2] * static_cast<std::size_t>(length), all->nb[2] * static_cast<std::size_t>(first));
  };
  const KeyValue kv = with_past(group, part(k, group.first_token, group.shape.length),
                                part(v, group.first_token, group.shape.length), a.layer);
  ggml_tensor* query =
      ggml_permute(context_, part(q, first_query, queries), 0, 2, 1, 3);  // [head, queries, heads, rows]
  ggml_tensor* key = ggml_permute(context_, kv.key, 0, 2, 1, 3);
  ggml_tensor* scores = ggml_mul_mat(context_, key, query);  // [keys, queries, heads, rows]
  const float scale = 1.0F / std::sqrt(static_cast<float>(q->ne[0]));
  if (a.causal) {
    scores = ggml_diag_mask_inf(context_, ggml_scale(context_, scores, scale), group.shape.past);
    scores = ggml_soft_max(context_, scores);
  } else {
    scores = ggml_soft_max_ext(context_, scores, nullptr, scale, 0.0F);
  }
  ggml_tensor* value = ggml_cont(context_, ggml_permute(context_, kv.value, 1, 2, 0, 3));  // [keys, head, heads, rows]
  ggml_tensor* mixed = ggml_mul_mat(context_, value, scores);              // [head, queries, heads, rows]
  mixed = ggml_cont(context_, ggml_permute(context_, mixed, 0, 2, 1, 3));  // [head, heads, queries, rows]
  return ggml_reshape_2d(context_, mixed, q->ne[0] * q->ne[1], static_cast<std::int64_t>(queries) * group.rows);
}

// Side by side, in a tree: every column is copied a few times, not once per group.
ggml_tensor* Graph::side_by_side(std::vector<ggml_tensor*> parts, int dimension) {
  while (parts.size() > 1) {
    std::vector<ggml_tensor*> pairs;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      pairs.push_back(ggml_concat(context_, parts[i], parts[i + 1], dimension));
    if (parts.size() % 2 == 1) pairs.push_back(parts.back());
    parts = std::move(pairs);
  }
  return parts.front();
}

// Copies that outlive the layer: the allocator would hand their memory on.
void Graph::keep(ggml_tensor* k, ggml_tensor* v) {
  fresh_.push_back({ggml_cont(context_, k), ggml_cont(context_, v)});
  finish(fresh_.back().key);
  finish(fresh_.back().value);
}

ggml_tensor* Graph::attend(ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, Attention attention) {
  PGDLM_CHECK(!(attention.causal && attention.asked_only));  // a diagonal mask needs the queries in their places
  if (attention.causal) keep(k, v);
  if (on_cpu() && attention.causal) {
    const KeyValue kv = with_pasts(k, v, attention.layer);
    return cpu_attention(context_, q, kv.key, kv.value, causal_rows_);
  }
  if (on_cpu()) return cpu_attention(context_, q, k, v, attention.asked_only ? asked_rows_ : all_rows_);
  std::vector<ggml_tensor*> parts;
  for (const Group& group : attention.asked_only ? asked_groups_ : groups_)
    if (!attention.asked_only || group.shape.asked > 0) parts.push_back(attend_group(group, q, k, v, attention));
  return side_by_side(std::move(parts), 1);
}

}  // namespace pgdlm
