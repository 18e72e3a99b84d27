// Weights in the order our CPU kernel reads them, made when a graph first asks. A copy costs as much memory as the
// weights in f32 or more, so it is kept only while this model's copies stay below a share of the memory; weights
// beyond it are unpacked at every forward, which a large batch hardly notices. Owned by a Runtime.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include <ggml.h>

#include "kernels/kernels.h"

namespace pgdlm {

Matrix as_matrix(const ggml_tensor* weight);
int parts_of(ggml_type type);  // see Matrix::parts

class PackedWeights {
 public:
  explicit PackedWeights(std::size_t budget_bytes = default_budget()) : budget_bytes_(budget_bytes) {}

  const void* find_or_pack(const ggml_tensor* weight);  // null: it does not fit
  bool keeps_all() const { return !refused_; }          // whatever it was asked for so far

  static std::size_t default_budget();  // an eighth of the memory we may use

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  using Key = std::pair<const void*, std::int64_t>;  // where it lies, and its rows: a part of it is another matrix

  std::size_t budget_bytes_, used_bytes_ = 0;
  bool refused_ = false;
  std::map<Key, std::unique_ptr<void, Free>> packed_;
};

}  // namespace pgdlm
