// What torch.save writes (pytorch_model.bin): a zip archive since PyTorch 1.6, before that pickles and raw storages one
// after the other. Everything is checked against the file, and nothing in it is run (pickle.h).
#pragma once

#include "convert/hf_tensor.h"

namespace pgdlm {

// A TensorParser. Error{bad_model} if it is not a sound file with a dict of tensors. Tensors may share bytes; one that
// lies in its storage in neither rows nor columns has odd strides.
std::vector<HfTensor> parse_torch(std::span<const std::byte> file, const std::string& path);

}  // namespace pgdlm
