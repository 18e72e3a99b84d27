#include "models/weights.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "[" : ", ") + std::to_string(n);
  return text + "]";
}

constexpr std::size_t kAlignment = 32;  // what ggml's CPU kernels may assume of a tensor

}  // namespace

Weights::Weights(std::shared_ptr<const Gguf> file, std::shared_ptr<const Device> device)
    : file_(std::move(file)), device_(std::move(device)) {
  const std::size_t tensors = file_->tensors().size() + 1;
  context_ = ggml_init({.mem_size = tensors * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true});
  if (context_ == nullptr) throw Error(ErrorCode::exhausted, file_->path() + ": no memory for its list of tensors");
}

Weights::~Weights() {
  for (ggml_backend_buffer_t buffer : buffers_) ggml_backend_buffer_free(buffer);
  ggml_free(context_);
}

const GgufTensor* Weights::checked(const std::string& name, std::initializer_list<std::int64_t> shape,
                                   bool required) const {
  const GgufTensor* tensor = file_->find(name);
  if (tensor == nullptr) {
    if (!required) return nullptr;
    throw Error(ErrorCode::bad_model, file_->path() + ": tensor " + name + " is missing",
                "the file is incomplete or of another architecture; `pgdlm models info` lists what it has");
  }
  std::array<std::int64_t, 4> expected = {1, 1, 1, 1};
  std::copy(shape.begin(), shape.end(), expected.begin());
  if (tensor->shape != expected)
    throw Error(ErrorCode::bad_model, file_->path() + ": tensor " + name + " has shape " +
                                          shape_text(std::span(tensor->shape).first(tensor->dimensions)) +
                                          ", expected " + shape_text({shape.begin(), shape.size()}));
  const ggml_type_traits* traits = ggml_get_type_traits(tensor->type);
  if (tensor->type != GGML_TYPE_F32 && traits->to_float == nullptr)
    throw Error(ErrorCode::bad_model, file_->path() + ": tensor " + name + " has type " + ggml_type_name(tensor->type) +
                                          ", which is not a type of weights");
  return tensor;
}

ggml_tensor* Weights::declare(const GgufTensor& tensor, ggml_type type) {
  ggml_tensor* made = ggml_new_tensor(context_, type, tensor.dimensions, tensor.shape.data());
  ggml_set_name(made, tensor.name.c_str());
  asked_.emplace(tensor.name, made);
  return made;
}

ggml_tensor* Weights::optional_matrix(const std::string& name, std::int64_t in, std::int64_t out) {
  if (const auto known = asked_.find(name); known != asked_.end()) return known->second;
  const GgufTensor* tensor = checked(name, {in, out}, false);
  return tensor == nullptr ? nullptr : declare(*tensor, tensor->type);
}

ggml_tensor* Weights::matrix(const std::string& name, std::int64_t in, std::int64_t out) {
  checked(name, {in, out}, true);
  return optional_matrix(name, in, out);
}

ggml_tensor* Weights::optional_vector(const std::string& name, std::int64_t size) {
  if (const auto known = asked_.find(name); known != asked_.end()) return known->second;
  const GgufTensor* tensor = checked(name, {size}, false);
  return tensor == nullptr ? nullptr : declare(*tensor, GGML_TYPE_F32);
}

ggml_tensor* Weights::vector(const std::string& name, std::int64_t size) {
  checked(name, {size}, true);
  return optional_vector(name, size);
}

// The mapped file itself, where it may be read as it lies.
bool Weights::use_in_place(ggml_tensor* made, const GgufTensor& tensor) {
  void* address = const_cast<std::byte*>(tensor.bytes.data());  // ggml has no const buffers; it never writes weights
  const bool aligned = reinterpret_cast<std::uintptr_t>(address) % kAlignment == 0;
  if (!device_->cpu() || !aligned || made->type != tensor.type) return false;
  buffers_.push_back(ggml_backend_cpu_buffer_from_ptr(address, tensor.bytes.size()));
  ggml_backend_buffer_set_usage(buffers_.back(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  ggml_backend_tensor_alloc(buffers_.back(), made, address);
  return true;
}

void Weights::load() {
  std::vector<std::pair<ggml_tensor*, const GgufTensor*>> copied;
  for (const auto& [name, made] : asked_) {
    const GgufTensor& tensor = *file_->find(name);
    if (!use_in_place(made, tensor)) copied.emplace_back(made, &tensor);
  }
  if (copied.empty()) return;
  ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(context_, device_->backend());
  if (buffer == nullptr) {
    std::size_t bytes = 0;
    for (const auto& [made, tensor] : copied) bytes += ggml_nbytes(made);
    throw Error(ErrorCode::exhausted, file_->path() + ": the weights, " + megabytes(bytes) +
                                          ", do not fit into the memory of " + device_->name());
  }
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  buffers_.push_back(buffer);
  for (const auto& [made, tensor] : copied) {
    if (made->type == tensor->type) {
      ggml_backend_tensor_set(made, tensor->bytes.data(), 0, tensor->bytes.size());
    } else {
      std::vector<float> values(static_cast<std::size_t>(ggml_nelements(made)));
      ggml_get_type_traits(tensor->type)->to_float(tensor->bytes.data(), values.data(), ggml_nelements(made));
      ggml_backend_tensor_set(made, values.data(), 0, values.size() * sizeof(float));
    }
  }
}

}  // namespace pgdlm
