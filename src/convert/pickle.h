// Reads the pickles of PyTorch checkpoints as data. A pickle is a program for a stack machine that may call any Python
// function; here nothing is ever called. Only the instructions that a dict of tensors needs are known, and only the
// names below may be mentioned; all else is an Error{bad_model} that says what. Values live in one list and refer to
// each other by number, so neither nesting nor a value inside itself costs stack; a value that is used again is not
// copied, so memory does not outgrow the file. Lives within one parse, one thread; texts are views into the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/hf_tensor.h"
#include "gguf/byte_cursor.h"

namespace pgdlm {

// The hint where a file is sound but holds more than tensors.
inline constexpr const char* kStateDictHint =
    "pgdlm never runs what a pickle asks for: save the model's state_dict() alone, or take safetensors";

using PickleRef = std::uint32_t;  // of a value of its pickle

struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, tuple, list, dict, global, storage, tensor };
  Kind kind = Kind::none;
  std::int64_t number = 0;       // boolean, integer; of a tensor, its place in tensors()
  std::string_view text;         // text; global: "module.name"; integer beyond 64 bits: its bytes
  std::vector<PickleRef> items;  // tuple, list, storage (its persistent id); dict: key, value, key, value ...
};
const char* kind_name(PickleValue::Kind kind);

struct StorageType {
  std::string_view name;  // "torch.FloatStorage"
  std::string_view dtype_name;
  Dtype dtype = Dtype::other;
  std::int64_t bytes = 0;  // of a number
};

// What a pickle says of a tensor; nothing is known yet of the storage that should have its numbers.
struct PickledTensor {
  const StorageType* type = nullptr;
  std::string_view storage;       // key
  std::int64_t storage_size = 0;  // numbers in it
  std::int64_t offset = 0;        // first number of the tensor
  std::vector<std::int64_t> shape, strides;
};

class Pickle {
 public:
  // Reads one pickle, to the end of its STOP.
  explicit Pickle(ByteCursor& in);

  const PickleValue& root() const { return values_[root_]; }
  const PickleValue& at(PickleRef ref) const { return values_[ref]; }
  const PickledTensor& tensor(const PickleValue& value) const {
    return tensors_[static_cast<std::size_t>(value.number)];
  }

 private:
  using Kind = PickleValue::Kind;

  bool step(unsigned char code);  // false at STOP
  bool step_constant(unsigned char code);
  bool step_container(unsigned char code);
  bool step_memo(unsigned char code);

  void push(PickleValue value);
  void push_again(PickleRef ref) { stack_.push_back(ref); }
  PickleRef pop();
  PickleRef top();
  std::vector<PickleRef> pop_to_mark();

  void push_text(std::size_t length);
  void push_long();
  void push_tuple(std::vector<PickleRef> items);
  void push_global(std::string_view module, std::string_view name);
  std::string line();
  void extend(PickleValue::Kind kind, const std::vector<PickleRef>& items);
  void build();
  void reduce();
  void persistent();
  void make_dict(const PickleValue& arguments);
  void rebuild_tensor(const PickleValue& arguments);
  void rebuild_parameter(const PickleValue& arguments);

  const PickleValue& item(const PickleValue& of, std::size_t i, PickleValue::Kind kind, const char* what) const;
  std::vector<std::int64_t> sizes(const PickleValue& tuple, const char* what) const;
  void spend(std::size_t steps);
  [[noreturn]] void fail(const std::string& message) const;    // it contradicts itself
  [[noreturn]] void refuse(const std::string& message) const;  // it may be sound, and is more than we read

  ByteCursor& in_;
  std::size_t steps_ = 0;
  std::vector<PickleValue> values_;
  std::vector<PickleRef> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::unordered_map<std::uint32_t, PickleRef> memo_;
  std::vector<PickledTensor> tensors_;
  PickleRef root_ = 0;
};

}  // namespace pgdlm
