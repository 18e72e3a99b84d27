// All tensors of a Hugging Face folder, in one file or in several with an index: safetensors, or else what torch.save
// writes, whichever is complete. Immutable, any thread; tensors are views that live as long as the checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convert/hf_tensor.h"

namespace pgdlm {

class Checkpoint {
 public:
  // Error{invalid_request} if the folder has no files of weights or one is missing; Error{bad_model} if files and
  // index contradict each other.
  explicit Checkpoint(const std::filesystem::path& folder);

  const std::string& path() const { return path_; }  // of the one file, or of the index
  const std::map<std::string, const HfTensor*, std::less<>>& tensors() const { return tensors_; }

 private:
  void open_single(const std::filesystem::path& file, TensorParser parse);
  void open_sharded(const std::filesystem::path& folder, const std::filesystem::path& index, TensorParser parse);

  std::string path_;
  std::vector<std::unique_ptr<TensorFile>> files_;
  std::map<std::string, const HfTensor*, std::less<>> tensors_;
};

}  // namespace pgdlm
