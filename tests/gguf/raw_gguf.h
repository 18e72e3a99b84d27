// GGUF files put together by hand, byte by byte, so that tests can lie where a writer would not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gguf.h>

#include "kit/scratch.h"

namespace pgdlm {

struct RawTensor {
  std::string name = "t";
  std::vector<std::uint64_t> shape = {4};
  std::uint32_t type = GGML_TYPE_F32;
  std::uint64_t offset = 0;
};

struct RawGguf {
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<std::string> keys;  // whole entries, from key()
  std::vector<RawTensor> tensors;
  std::size_t data = 0;                            // bytes of the data section
  std::int64_t extra_keys = 0, extra_tensors = 0;  // claimed beyond those that are there

  template <class T>
  static std::string number(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  static std::string text(std::string_view value) { return number<std::uint64_t>(value.size()) + std::string(value); }
  static std::string key(std::string_view name, std::uint32_t type, const std::string& value) {
    return text(name) + number(type) + value;
  }

  std::string bytes() const {
    std::string out = magic + number(version) +
                      number<std::uint64_t>(tensors.size() + static_cast<std::uint64_t>(extra_tensors)) +
                      number<std::uint64_t>(keys.size() + static_cast<std::uint64_t>(extra_keys));
    for (const std::string& key : keys) out += key;
    for (const RawTensor& tensor : tensors) {
      out += text(tensor.name) + number(static_cast<std::uint32_t>(tensor.shape.size()));
      for (const std::uint64_t size : tensor.shape) out += number(size);
      out += number(tensor.type) + number(tensor.offset);
    }
    if (data > 0) out.resize((out.size() + 31) / 32 * 32);
    return out + std::string(data, '\x11');
  }
};

}  // namespace pgdlm
