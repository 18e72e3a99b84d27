// Small Hugging Face folders made on the spot: random weights of every family in a scratch folder, as one safetensors
// file or several, with config.json and tokenizer files. A test changes what it wants to before write().
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <ggml.h>
#include <nlohmann/json.hpp>

#include "convert/convert.h"
#include "gguf/gguf.h"
#include "gguf/raw_gguf.h"

namespace pgdlm {

struct FakeTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  std::string dtype = "F32";

  std::string bytes() const {
    std::string out;
    for (const float value : values) {
      if (dtype == "F16")
        out += RawGguf::number(ggml_fp32_to_fp16(value));
      else if (dtype == "BF16")
        out += RawGguf::number(ggml_fp32_to_bf16(value).bits);
      else if (dtype == "I64")
        out += RawGguf::number(static_cast<std::int64_t>(value));
      else if (dtype == "F64")
        out += RawGguf::number(static_cast<double>(value));
      else
        out += RawGguf::number(value);
    }
    return out;
  }
};

using FakeTensors = std::map<std::string, FakeTensor>;

// The bytes of a safetensors file with these tensors.
inline std::string safetensors_bytes(const FakeTensors& tensors) {
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const std::string bytes = tensor.bytes();
    header[name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  const std::string text = header.dump();
  return RawGguf::number<std::uint64_t>(text.size()) + text + data;
}

class FakeFolder {
 public:
  explicit FakeFolder(const std::string& name) : scratch_(name) {}

  FakeTensors tensors;
  nlohmann::json config;
  std::map<std::string, nlohmann::json> json_files;  // beside config.json
  std::map<std::string, std::string> text_files;

  // A random tensor; numbers are multiples of 1/64 below 2, the same in f32, f16 and bf16.
  FakeTensor& add(const std::string& name, std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    FakeTensor tensor{.shape = std::move(shape)};
    for (std::int64_t i = 0; i < count; ++i)
      tensor.values.push_back(static_cast<float>(static_cast<int>(random_() % 255) - 127) / 64.0f);
    return tensors[name] = std::move(tensor);
  }

  void write(std::size_t shards = 1) const {
    scratch_.file("config.json", config.dump());
    for (const auto& [name, content] : json_files) scratch_.file(name, content.dump());
    for (const auto& [name, content] : text_files) scratch_.file(name, content);
    if (shards == 1) {
      scratch_.file("model.safetensors", safetensors_bytes(tensors));
      return;
    }
    std::vector<FakeTensors> parts(shards);
    nlohmann::json map = nlohmann::json::object();
    std::size_t next = 0;
    for (const auto& [name, tensor] : tensors) {
      const std::size_t part = next++ % shards;
      parts[part].emplace(name, tensor);
      map[name] = "part-" + std::to_string(part) + ".safetensors";
    }
    for (std::size_t i = 0; i < shards; ++i)
      scratch_.file("part-" + std::to_string(i) + ".safetensors", safetensors_bytes(parts[i]));
    scratch_.file("model.safetensors.index.json", nlohmann::json({{"weight_map", map}}).dump());
  }

  std::shared_ptr<const Gguf> converted(ggml_type type = GGML_TYPE_F32) const {
    convert(path(), out(), {.type = type});
    return Gguf::open(out());
  }

  const std::filesystem::path& path() const { return scratch_.path(); }
  std::filesystem::path out() const { return scratch_ / "out.gguf"; }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
  std::mt19937 random_{7};
};

// The numbers of a tensor stored as f32.
inline std::vector<float> floats(const Gguf& file, const std::string& name) {
  const GgufTensor* tensor = file.find(name);
  if (tensor == nullptr || tensor->type != GGML_TYPE_F32) return {};
  const auto* values = reinterpret_cast<const float*>(tensor->bytes.data());
  return {values, values + tensor->bytes.size() / sizeof(float)};
}

// What a conversion of the folder complains about, with its hint; "" if it succeeds.
std::string complaint(const FakeFolder& folder, ggml_type type = GGML_TYPE_F32);

// ---- one of each family: hidden size 8, 2 layers, a vocabulary of 12 ----

FakeFolder& fill_mdlm(FakeFolder& folder);
FakeFolder& fill_llada(FakeFolder& folder);
FakeFolder& fill_dream(FakeFolder& folder);
FakeFolder& fill_qwen2_prm(FakeFolder& folder);
enum class FakeHead { none, classifier, masked_lm };
FakeFolder& fill_bert(FakeFolder& folder, FakeHead head);
FakeFolder& fill_roberta(FakeFolder& folder, FakeHead head);

// A byte-level tokenizer.json with four pieces, one merge, and these added special tokens from id 4 on.
nlohmann::json tiny_tokenizer(const std::vector<std::string>& added);

}  // namespace pgdlm
