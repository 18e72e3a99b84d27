#include "convert/hf_tensor.h"

namespace pgdlm {

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

TensorFile::TensorFile(const std::filesystem::path& path, TensorParser parse)
    : file_(path), tensors_(parse(file_.bytes(), path.string())) {
  for (HfTensor& tensor : tensors_) tensor.file = &file_;
}

}  // namespace pgdlm
