// A tensor as a file of weights has it, and such a file: memory-mapped, and checked before any of it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gguf/mapped_file.h"

namespace pgdlm {

enum class Dtype { f32, f16, bf16, f64, other };  // `other`: integers and the like, in tensors nobody computes with

struct HfTensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::string dtype_name;                 // as in safetensors: "F32"
  std::vector<std::int64_t> shape;        // as in PyTorch
  bool by_columns = false;                // a matrix whose columns lie one after the other, not its rows
  std::vector<std::int64_t> odd_strides;  // if there are any, no bytes: its numbers lie in an order that is not read
  std::span<const std::byte> bytes;
  const MappedFile* file = nullptr;  // that has the bytes
};

std::string shape_text(std::span<const std::int64_t> shape);  // "[4096, 128]"

// The tensors of a file with these bytes, whose `file` is null; `path` is for messages.
using TensorParser = std::vector<HfTensor> (*)(std::span<const std::byte> file, const std::string& path);

// Immutable, any thread; tensors are views that live as long as the file.
class TensorFile {
 public:
  // Error{invalid_request} if it cannot be read, and what the parser throws.
  TensorFile(const std::filesystem::path& path, TensorParser parse);
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  std::span<const HfTensor> tensors() const { return tensors_; }

 private:
  MappedFile file_;
  std::vector<HfTensor> tensors_;
};

}  // namespace pgdlm
