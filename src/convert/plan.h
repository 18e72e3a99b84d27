// What a conversion will write: keys, and for each tensor of the new file where its rows come from. A family (mdlm.cpp,
// llada.cpp, ...) fills it from names and shapes alone; the weights move later, block by block (stream.h). It also
// keeps count: every tensor of the checkpoint must be used or known to be superfluous, because one that nobody knows
// means another model. Lives within one conversion, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/checkpoint.h"
#include "gguf/gguf.h"

namespace pgdlm {

using Shape = std::vector<std::int64_t>;  // as in PyTorch: [out, in]

// Row r of the tensor is row source_row(r) of `source`, times row_scale[r]. A vector has rows of one number.
struct PlannedTensor {
  std::string name;
  Shape shape;
  const HfTensor* source = nullptr;
  std::int64_t first_row = 0;     // of the source: RoBERTa's first positions are never used
  std::int64_t paired_head = 0;   // rows of a head, whose halves are interleaved for adjacent-pair RoPE; 0: as they are
  std::vector<double> row_scale;  // empty: all 1
  std::vector<float> values;      // instead of a source: vectors computed while planning
  bool full_precision = false;    // f32 whatever type is asked for

  std::int64_t rows() const { return shape[0]; }
  std::int64_t row_length() const { return shape.size() == 2 ? shape[1] : 1; }
  std::int64_t source_row(std::int64_t row) const;
};

class Plan {
 public:
  // `rename` maps a name in the checkpoint to the one the family asks for (old spellings, optional prefixes).
  explicit Plan(const Checkpoint& checkpoint, const std::function<std::string(std::string_view)>& rename = {});

  void set(std::string_view key, GgufValue value) { metadata_.insert_or_assign(std::string(key), std::move(value)); }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  std::span<const PlannedTensor> tensors() const { return tensors_; }

  bool has(std::string_view from) const { return by_name_.contains(from); }
  const Shape& shape_of(std::string_view from) const;  // Error{bad_model} if absent
  // Marks a tensor as used; Error{bad_model} if it is absent or of another shape, or that shape has no numbers;
  // Error{unsupported} if it is not of floating point or its numbers lie in an odd order.
  const HfTensor& take(std::string_view from, const Shape& shape);
  // Known and not needed; absence is fine.
  void ignore(std::string_view from) { used_.insert(std::string(from)); }
  void ignore_all(std::string_view prefix);

  // The tensor `from` under the name `to`. The result may be adjusted until the next tensor is added.
  PlannedTensor& copy(std::string_view to, std::string_view from, const Shape& shape);
  bool copy_if_there(std::string_view to, std::string_view from, const Shape& shape);
  void add_vector(std::string_view to, std::vector<float> values);

  // Error{bad_model} naming tensors that nobody took or ignored.
  void check_all_used() const;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;  // Error{bad_model}

 private:
  [[noreturn]] void fail_missing(std::string_view from) const;
  void check_readable(const HfTensor& tensor) const;

  const Checkpoint& checkpoint_;
  std::map<std::string, const HfTensor*, std::less<>> by_name_;  // by the family's names
  std::set<std::string, std::less<>> used_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<PlannedTensor> tensors_;
};

// All numbers of a small tensor.
std::vector<double> read_all(const HfTensor& tensor);

}  // namespace pgdlm
