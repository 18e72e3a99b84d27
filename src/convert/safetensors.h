// One safetensors file: a JSON header and raw tensors, memory-mapped. Everything the header claims is checked against
// the file before it is used. Immutable, any thread; tensors are views that live as long as the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gguf/mapped_file.h"

namespace pgdlm {

enum class Dtype { f32, f16, bf16, other };  // `other`: integers and the like, in tensors nobody computes with

struct HfTensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::string dtype_name;           // as in the file
  std::vector<std::int64_t> shape;  // as in PyTorch
  std::span<const std::byte> bytes;
  const MappedFile* file = nullptr;  // that has the bytes
};

std::string shape_text(std::span<const std::int64_t> shape);  // "[4096, 128]"

class Safetensors {
 public:
  // Error{invalid_request} if it cannot be read, Error{bad_model} if it is not a sound safetensors file.
  explicit Safetensors(const std::filesystem::path& path);
  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;

  const std::string& path() const { return path_; }
  std::span<const HfTensor> tensors() const { return tensors_; }

 private:
  std::string path_;
  MappedFile file_;
  std::vector<HfTensor> tensors_;
};

// The tensors of a file with these bytes; `path` is for messages. Their `file` is null.
std::vector<HfTensor> parse_safetensors(std::span<const std::byte> file, const std::string& path);

}  // namespace pgdlm
