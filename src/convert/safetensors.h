// The safetensors format: a JSON header and raw tensors. Everything the header claims is checked against the file.
#pragma once

#include "convert/hf_tensor.h"

namespace pgdlm {

// A TensorParser. Error{bad_model} if it is not a sound safetensors file.
std::vector<HfTensor> parse_safetensors(std::span<const std::byte> file, const std::string& path);

}  // namespace pgdlm
