// GGUF files put together by hand, byte by byte, so that tests can lie where a writer would not. Also the scratch
// folder of a test. Each test owns its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <gguf.h>

namespace pgdlm {

// A folder that goes away with the test.
class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("pgdlm-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& path() const { return folder_; }

  std::filesystem::path file(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << content;
    return folder_ / name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::filesystem::path folder_;
};

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
