// The header of a GGUF file, from bytes that nobody has checked yet. Pure functions of these bytes, any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gguf/gguf.h"

namespace pgdlm {

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;  // in the order of the file; their bytes are views into the file
};

// Error{bad_model} if `file` is not a GGUF file of version 2 or 3 all of whose claims hold.
GgufHeader parse_gguf(std::span<const std::byte> file, const std::string& path);

// What to tell about a file that is not what it should be: what it seems to be instead, or nothing.
std::string file_lookalike(std::span<const std::byte> file);
inline constexpr const char* kSafetensorsFile = "a safetensors file";  // one of the answers

}  // namespace pgdlm
