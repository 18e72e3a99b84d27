#include "parity/random_gguf.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "gguf/writer.h"

namespace pgdlm::parity {
namespace {

struct Tensor {
  std::string name;
  std::int64_t in = 0, out = 0;  // out 0: a vector
  double scale = 0, mean = 0;
  bool keep_f32 = false;
};

constexpr double kSharp = 1.5;  // of queries and keys

class Plan {
 public:
  explicit Plan(const RandomModel& m) : m_(m) {
    if (m.architecture == "bert")
      encoder();
    else
      decoder();
  }
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  void matrix(const std::string& name, int out, int in, double gain = 1) {
    tensors_.push_back({name + ".weight", in, out, gain / std::sqrt(in)});
  }
  void vector(const std::string& name, int size, double scale, double mean = 0) {
    tensors_.push_back({name, size, 0, scale, mean});
  }
  void linear(const std::string& name, int out, int in, double gain = 1) {
    matrix(name, out, in, gain);
    vector(name + ".bias", out, 0.3);
  }
  void table(const std::string& name, int rows, double scale, bool keep_f32) {
    tensors_.push_back({name + ".weight", m_.embedding, rows, scale, 0, keep_f32});
  }
  void layer_norm(const std::string& name) {
    vector(name + ".weight", m_.embedding, 0.3, 1);
    vector(name + ".bias", m_.embedding, 0.3);
  }

  void decoder() {
    const int d = m_.embedding, kv = d / m_.heads * m_.kv_heads;
    const bool biases = m_.architecture != "llada";
    const auto attention = [&](const std::string& name, int out, double gain) {
      if (biases)
        linear(name, out, d, gain);
      else
        matrix(name, out, d, gain);
    };
    table("token_embd", m_.vocab, 1, false);
    for (int i = 0; i < m_.layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      vector(blk + "attn_norm.weight", d, 0.3, 1);
      attention(blk + "attn_q", d, kSharp);
      attention(blk + "attn_k", kv, kSharp);
      attention(blk + "attn_v", kv, 1);
      matrix(blk + "attn_output", d, d);
      vector(blk + "ffn_norm.weight", d, 0.3, 1);
      matrix(blk + "ffn_gate", m_.feed_forward, d, 2);
      matrix(blk + "ffn_up", m_.feed_forward, d);
      matrix(blk + "ffn_down", d, m_.feed_forward);
    }
    vector("output_norm.weight", d, 0.3, 1);
    if (m_.architecture != "qwen2") matrix("output", m_.vocab, d, 3);
    if (m_.architecture == "qwen2" && m_.head) {
      linear("cls", d, d, 2);
      linear("cls.output", 2, d, 3);
    }
  }

  void encoder() {
    const int d = m_.embedding;
    table("token_embd", m_.vocab, 1, false);
    table("position_embd", m_.context, 1, true);
    table("token_types", 2, 0.5, true);
    layer_norm("token_embd_norm");
    for (int i = 0; i < m_.layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      linear(blk + "attn_q", d, d, kSharp);
      linear(blk + "attn_k", d, d, kSharp);
      linear(blk + "attn_v", d, d);
      linear(blk + "attn_output", d, d);
      layer_norm(blk + "attn_output_norm");
      linear(blk + "ffn_up", m_.feed_forward, d, 1.5);
      linear(blk + "ffn_down", d, m_.feed_forward);
      layer_norm(blk + "layer_output_norm");
    }
    linear("cls", d, d, 1.5);
    linear("cls.output", m_.labels, d, 3);
  }

  const RandomModel& m_;
  std::vector<Tensor> tensors_;
};

std::string utf8(int code) {  // below U+0800
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// Byte-level BPE: the 256 bytes as GPT-2 writes them, LLaDA's special tokens, and words nothing merges into.
void set_vocabulary(GgufWriter& writer, int size) {
  std::vector<std::string> tokens;
  std::vector<std::int64_t> types;
  const auto add = [&](std::string token, int type) {
    tokens.push_back(std::move(token));
    types.push_back(type);
  };
  for (int b = 0, others = 0; b < 256; ++b) {
    const bool plain = (b >= 33 && b < 127) || (b >= 161 && b != 173);
    add(utf8(plain ? b : 256 + others++), 1);
  }
  for (const char* name : {"<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>"}) add(name, 3);
  add(utf8(0x120) + "t", 1);
  for (int i = 0; static_cast<int>(tokens.size()) < size; ++i) add(utf8(0x120) + "w" + std::to_string(i), 1);
  writer.set("tokenizer.ggml.model", std::string("gpt2"));
  writer.set("tokenizer.ggml.pre", std::string("gpt-2"));
  writer.set("tokenizer.ggml.tokens", tokens);
  writer.set("tokenizer.ggml.token_type", types);
  writer.set("tokenizer.ggml.merges", std::vector<std::string>{utf8(0x120) + " t"});
  writer.set("tokenizer.ggml.bos_token_id", std::int64_t{256});
  writer.set("tokenizer.ggml.eos_token_id", std::int64_t{257});
  writer.set("tokenizer.ggml.mask_token_id", std::int64_t{258});
  writer.set("tokenizer.ggml.add_bos_token", false);
}

void set_keys(GgufWriter& writer, const RandomModel& m) {
  const std::string a = m.architecture + ".";
  writer.set("general.architecture", m.architecture);
  writer.set("general.name", "random " + m.architecture);
  for (const auto& [key, value] :
       {std::pair{"block_count", m.layers}, std::pair{"context_length", m.context},
        std::pair{"embedding_length", m.embedding}, std::pair{"feed_forward_length", m.feed_forward},
        std::pair{"attention.head_count", m.heads}, std::pair{"vocab_size", m.vocab}}) {
    writer.set(a + key, std::int64_t{value});
  }
  writer.set(a + "attention.causal", m.architecture == "qwen2");
  if (m.architecture == "bert") {
    std::vector<std::string> labels;
    for (int i = 0; i < m.labels; ++i) labels.push_back("label " + std::to_string(i));
    writer.set("bert.attention.layer_norm_epsilon", 1e-5);
    writer.set("bert.pooling_type", std::int64_t{4});
    writer.set("bert.classifier.output_labels", labels);
    writer.set("bert.activation", m.activation);
    writer.set("tokenizer.ggml.token_type_count", std::int64_t{2});
  } else {
    writer.set(a + "attention.head_count_kv", std::int64_t{m.kv_heads});
    writer.set(a + "attention.layer_norm_rms_epsilon", 1e-5);
    writer.set(a + "rope.dimension_count", std::int64_t{m.embedding / m.heads});
    writer.set(a + "rope.freq_base", 50000.0);
  }
  if (!m.chat_template.empty()) writer.set("tokenizer.chat_template", m.chat_template);
  if (m.architecture == "llada") writer.set("diffusion.shift_logits", false);
  if (m.architecture == "qwen2" && m.head) writer.set("reward.step_token_id", std::int64_t{259});
}

ggml_type rounded_type(const Tensor& t, const RandomModel& m) {
  return t.out == 0 || t.keep_f32 ? GGML_TYPE_F32 : m.type;
}
ggml_type stored_type(const Tensor& t, const RandomModel& m) { return m.decoded ? GGML_TYPE_F32 : rounded_type(t, m); }

// Row by row; the seed of a tensor depends on its name alone.
void write_values(GgufWriter& writer, const Tensor& t, const RandomModel& m) {
  std::mt19937_64 random(m.seed ^ std::hash<std::string>()(t.name));
  std::normal_distribution<double> normal(t.mean, t.scale);
  const ggml_type type = rounded_type(t, m);
  std::vector<float> row(static_cast<std::size_t>(t.in));
  std::vector<std::byte> bytes(ggml_row_size(type, t.in));
  for (std::int64_t r = 0; r < std::max<std::int64_t>(t.out, 1); ++r) {
    std::ranges::generate(row, [&] { return static_cast<float>(normal(random)); });
    ggml_quantize_chunk(type, row.data(), bytes.data(), 0, 1, t.in, nullptr);
    if (stored_type(t, m) == type) {
      writer.write(t.name, bytes);
    } else {
      ggml_get_type_traits(type)->to_float(bytes.data(), row.data(), t.in);
      writer.write(t.name, std::as_bytes(std::span(row)));
    }
  }
}

}  // namespace

void write_random_gguf(const std::filesystem::path& path, const RandomModel& model) {
  GgufWriter writer(path);
  set_keys(writer, model);
  set_vocabulary(writer, model.vocab);
  const Plan plan(model);
  for (const Tensor& t : plan.tensors()) {
    const std::int64_t shape[] = {t.in, t.out};
    writer.declare(t.name, stored_type(t, model), std::span(shape, t.out == 0 ? 1 : 2));
  }
  for (const Tensor& t : plan.tensors()) write_values(writer, t, model);
  writer.commit();
}

}  // namespace pgdlm::parity
