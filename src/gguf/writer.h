// Writes a GGUF file piece by piece: keys are set and tensors declared first, then the bytes of each tensor follow in
// the order of declaration, in pieces of any size, so that no tensor is ever held in memory as a whole. All goes to
// PATH.part-<pid>, which takes the place of PATH on commit(); without commit the destructor removes it, so whatever
// goes wrong (an exception, an interrupt, a full disk) leaves the old file or none. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ggml.h>

#include "gguf/gguf.h"

namespace pgdlm {

class GgufWriter {
 public:
  // Error{invalid_request} if the file cannot be created there.
  explicit GgufWriter(std::filesystem::path path);
  ~GgufWriter();
  GgufWriter(const GgufWriter&) = delete;
  GgufWriter& operator=(const GgufWriter&) = delete;

  // Stored in the types llama.cpp asks for: an integer as u32 (i64 if it does not fit), a double as f32, an array of
  // integers as i32, of doubles as f32. A key set again replaces its value.
  void set(std::string_view key, GgufValue value);

  // `shape` as in ggml: the fastest dimension first.
  void declare(std::string_view name, ggml_type type, std::span<const std::int64_t> shape);

  // The next bytes of `name`, which must be the first declared tensor that is not complete.
  void write(std::string_view name, std::span<const std::byte> bytes);

  // All tensors must be complete. Once this returns, the file is on disk under its name.
  void commit();

  std::uint64_t bytes_written() const { return offset_; }

 private:
  struct Declared {
    std::string name;
    ggml_type type = GGML_TYPE_F32;
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0, offset = 0;  // the offset counts from the beginning of the data
  };

  std::string header() const;
  void begin_data();
  void put(const void* bytes, std::size_t size);
  void pad();
  [[noreturn]] void fail(const std::string& doing) const;

  std::filesystem::path path_, part_;
  int fd_ = -1;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<Declared> tensors_;
  std::uint64_t data_bytes_ = 0;  // of the tensors declared so far, padded
  std::size_t current_ = 0;       // the tensor that takes the next bytes
  std::uint64_t filled_ = 0;      // bytes it has
  std::uint64_t offset_ = 0;      // bytes in the file
  bool data_begun_ = false;
};

}  // namespace pgdlm
