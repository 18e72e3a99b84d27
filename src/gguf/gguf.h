// A GGUF file: metadata and tensors, read and checked by us before ggml sees a byte of it. Everything the header
// claims (counts, lengths, types, shapes, offsets) is held against the length of the file, without overflow; a file
// that lies is an Error{bad_model} naming the file, the key or tensor, what was expected and what was found.
//
// Immutable after open, any thread. The file is memory-mapped: tensor bytes are views that live as long as the Gguf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ggml.h>

#include "gguf/mapped_file.h"

namespace pgdlm {

// A metadata value. Integers of all widths are int64 (a uint64 beyond it is refused), both floats are double.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<bool>, std::vector<std::string>>;

struct GgufTensor {
  std::string name;
  ggml_type type = GGML_TYPE_F32;
  std::array<std::int64_t, 4> shape = {1, 1, 1, 1};  // as ggml's ne: the fastest dimension first
  int dimensions = 1;
  std::span<const std::byte> bytes;

  std::int64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

class Gguf {
 public:
  // Error{invalid_request} if there is no such file, Error{bad_model} if it is not a sound GGUF file.
  static std::shared_ptr<const Gguf> open(const std::filesystem::path& path);
  Gguf(const Gguf&) = delete;
  Gguf& operator=(const Gguf&) = delete;

  const std::string& path() const { return path_; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* find(std::string_view name) const;  // null: no such tensor

  // The value of a key as T: std::int64_t, double (an integer will do), bool, std::string, or a vector of one of them.
  // Nothing if the key is absent; Error{bad_model} if it has another type.
  template <class T>
  std::optional<T> get(std::string_view key) const;
  // The same, but absence is an error too.
  template <class T>
  T require(std::string_view key) const;

 private:
  Gguf() = default;

  std::string path_;
  MappedFile file_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace pgdlm
