// GGUF files with random weights, of any size: for comparing two engines, and for measuring them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <ggml.h>

namespace pgdlm::parity {

struct RandomModel {
  std::string architecture = "llada";  // llada, dream, qwen2, bert
  int layers = 3, embedding = 256, heads = 8, kv_heads = 8, feed_forward = 512;
  int vocab = 400, context = 128;
  ggml_type type = GGML_TYPE_F32;  // of the matrices; embedding and feed_forward must be whole blocks of it
  bool decoded = false;            // what `type` makes of the weights, stored as f32
  std::uint64_t seed = 1;
  bool head = true;                     // qwen2: with the head of a process reward, which libllama cannot load
  std::string activation = "gelu_erf";  // bert
  int labels = 3;                       // bert
  std::string chat_template;            // Jinja; empty: none
};

// Attention is sharp and logits are of order 10, so that mistakes show. The same model gives the same weights for every
// type (before rounding) and with or without a head.
void write_random_gguf(const std::filesystem::path& path, const RandomModel& model);

}  // namespace pgdlm::parity
