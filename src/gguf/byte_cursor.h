// Walks through the header of a GGUF file, or other bytes nobody has checked. Every step is held against what is left
// of the file before anything is read or reserved, and what the values will take in memory is charged against a budget.
// Lives within one parse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "pgdlm/error.h"

namespace pgdlm {

// The hint where a file contradicts itself or ends too early.
inline constexpr const char* kDamagedHint = "the file is damaged or was not downloaded to its end";

class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> file, const std::string& path) : file_(file), path_(path) {}

  // What is being read, for messages: "key 'llada.block_count'".
  void reading(std::string what) { what_ = std::move(what); }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  // Lengths are 64-bit in the file; a string must be valid UTF-8.
  std::string string();

  // A count of things that take at least `bytes_each` in the file and `memory_each` in memory.
  std::size_t count(std::size_t bytes_each, std::size_t memory_each);

  std::span<const std::byte> take(std::uint64_t bytes);
  std::size_t position() const { return position_; }
  std::size_t left() const { return file_.size() - position_; }

  // Error{bad_model}: "FILE: WHAT: MESSAGE".
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;

 private:
  // Far above any model (a vocabulary of 256,000 words takes some 20 MB), far below a machine.
  static constexpr std::size_t kMemory = std::size_t{256} << 20;

  void charge(std::size_t bytes);

  std::span<const std::byte> file_;
  const std::string& path_;
  std::string what_ = "header";
  std::size_t position_ = 0;
  std::size_t charged_ = 0;
};

bool valid_utf8(std::string_view text);

}  // namespace pgdlm
