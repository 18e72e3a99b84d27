// The tensors of a GGUF file on a device. Immutable and shared by everything that runs the model. On the CPU they are
// the mapped file itself; elsewhere they are copied once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ggml-backend.h>
#include <ggml.h>

#include "gguf/gguf.h"
#include "models/device.h"

namespace pgdlm {

class Weights {
 public:
  Weights(std::shared_ptr<const Gguf> file, std::shared_ptr<const Device> device);
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  const Gguf& file() const { return *file_; }

  // Asking comes first: an architecture names what it needs, with the shape it expects (fastest dimension first), and
  // load() then brings exactly these tensors to the device. Wrong shapes and types that cannot be multiplied are
  // Error{bad_model}. Vectors are turned into f32, whatever the file holds.
  ggml_tensor* matrix(const std::string& name, std::int64_t in, std::int64_t out);
  ggml_tensor* vector(const std::string& name, std::int64_t size);
  ggml_tensor* optional_matrix(const std::string& name, std::int64_t in, std::int64_t out);  // null: not in the file
  ggml_tensor* optional_vector(const std::string& name, std::int64_t size);
  void load();

 private:
  const GgufTensor* checked(const std::string& name, std::initializer_list<std::int64_t> shape, bool required) const;
  ggml_tensor* declare(const GgufTensor& tensor, ggml_type type);
  bool use_in_place(ggml_tensor* made, const GgufTensor& tensor);

  std::shared_ptr<const Gguf> file_;
  std::shared_ptr<const Device> device_;
  ggml_context* context_ = nullptr;
  std::vector<ggml_backend_buffer_t> buffers_;
  std::map<std::string, ggml_tensor*> asked_;
};

}  // namespace pgdlm
