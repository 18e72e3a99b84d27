#include "models/blocks.h"

#include <cmath>
#include <limits>
#include <string>

#include "models/cpu_ops.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

ggml_tensor* find_bias(Weights& weights, const std::string& name, int size, Bias bias) {
  if (bias == Bias::none) return nullptr;
  return bias == Bias::required ? weights.vector(name + ".bias", size) : weights.optional_vector(name + ".bias", size);
}

// Some of the rows of a matrix, as a matrix.
Linear rows_of(Graph& g, const Linear& w, int first, int count) {
  const auto skipped = static_cast<std::size_t>(first);
  return {ggml_view_2d(g.context(), w.weight, w.weight->ne[0], count, w.weight->nb[1], w.weight->nb[1] * skipped),
          w.bias == nullptr ? nullptr : ggml_view_1d(g.context(), w.bias, count, w.bias->nb[0] * skipped)};
}

int read_size(const Gguf& file, const std::string& key, std::int64_t value, std::int64_t most) {
  if (value < 1 || value > most)
    throw Error(ErrorCode::bad_model, file.path() + ": key " + key + " is " + std::to_string(value) +
                                          ", allowed: 1 to " + std::to_string(most));
  return static_cast<int>(value);
}

void require_multiple(const Gguf& file, const std::string& what, int value, int divisor) {
  if (value % divisor == 0) return;
  throw Error(ErrorCode::bad_model, file.path() + ": " + what + " is " + std::to_string(value) +
                                        ", expected a multiple of " + std::to_string(divisor));
}

}  // namespace

Linear linear_weights(Weights& weights, const std::string& name, int in, int out, Bias bias) {
  return {weights.matrix(name + ".weight", in, out), find_bias(weights, name, out, bias)};
}

Qkv qkv_weights(Weights& weights, const std::string& layer, int in, int q_size, int kv_size) {
  if (weights.file().find(layer + "attn_qkv.weight") != nullptr)
    return {.fused = linear_weights(weights, layer + "attn_qkv", in, q_size + 2 * kv_size, Bias::optional),
            .q_size = q_size,
            .kv_size = kv_size};
  return {.q = linear_weights(weights, layer + "attn_q", in, q_size, Bias::optional),
          .k = linear_weights(weights, layer + "attn_k", in, kv_size, Bias::optional),
          .v = linear_weights(weights, layer + "attn_v", in, kv_size, Bias::optional)};
}

Affine norm_weights(Weights& weights, const std::string& name, int size, Bias bias) {
  return {weights.vector(name + ".weight", size), find_bias(weights, name, size, bias)};
}

ggml_tensor* linear(Graph& g, const Linear& w, ggml_tensor* x) {
  if (g.on_cpu()) return g.linear_on_cpu(w.weight, w.bias, x);
  ggml_tensor* y = ggml_mul_mat(g.context(), w.weight, x);
  return w.bias == nullptr ? y : ggml_add(g.context(), y, w.bias);
}

ggml_tensor* queries(Graph& g, const Qkv& w, ggml_tensor* x) {
  return linear(g, w.fused.weight == nullptr ? w.q : rows_of(g, w.fused, 0, w.q_size), x);
}

ggml_tensor* keys(Graph& g, const Qkv& w, ggml_tensor* x) {
  return linear(g, w.fused.weight == nullptr ? w.k : rows_of(g, w.fused, w.q_size, w.kv_size), x);
}

ggml_tensor* values(Graph& g, const Qkv& w, ggml_tensor* x) {
  return linear(g, w.fused.weight == nullptr ? w.v : rows_of(g, w.fused, w.q_size + w.kv_size, w.kv_size), x);
}

ggml_tensor* layer_norm(Graph& g, const Affine& w, ggml_tensor* x, float epsilon) {
  ggml_tensor* y = ggml_mul(g.context(), ggml_norm(g.context(), x, epsilon), w.weight);
  return w.bias == nullptr ? y : ggml_add(g.context(), y, w.bias);
}

ggml_tensor* rms_norm(Graph& g, const Affine& w, ggml_tensor* x, float epsilon) {
  return ggml_mul(g.context(), ggml_rms_norm(g.context(), x, epsilon), w.weight);
}

// x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form without ggml's table, which rounds x to f16.
ggml_tensor* gelu_tanh(Graph& g, ggml_tensor* x) {
  ggml_context* c = g.context();
  if (g.on_cpu()) return cpu_gelu_tanh(c, x);
  const float a = 2.0F * std::sqrt(2.0F / 3.14159265358979F);
  ggml_tensor* u = ggml_mul(c, x, ggml_scale_bias(c, ggml_sqr(c, x), a * 0.044715F, a));
  return ggml_mul(c, x, ggml_sigmoid(c, u));
}

ggml_tensor* gelu_erf(Graph& g, ggml_tensor* x) {
  return g.on_cpu() ? cpu_gelu_erf(g.context(), x) : ggml_gelu_erf(g.context(), x);
}

ggml_tensor* swiglu(Graph& g, ggml_tensor* gate, ggml_tensor* up) {
  ggml_context* c = g.context();
  return g.on_cpu() ? cpu_swiglu(c, gate, up) : ggml_mul(c, ggml_silu(c, gate), up);
}

ggml_tensor* split_heads(Graph& g, ggml_tensor* x, int heads) {
  return ggml_reshape_3d(g.context(), x, x->ne[0] / heads, heads, x->ne[1]);
}

ggml_tensor* rotate(Graph& g, ggml_tensor* x, ggml_tensor* positions, const Rope& rope) {
  return ggml_rope_ext(g.context(), x, positions, nullptr, rope.dimensions, rope.mode, 0, rope.base, 1.0F, 0.0F, 1.0F,
                       0.0F, 0.0F);
}

ggml_tensor* pick(Graph& g, ggml_tensor* x) { return g.asks_all() ? x : ggml_get_rows(g.context(), x, g.asked()); }

TransformerSizes read_sizes(const Gguf& file, const std::string& architecture) {
  constexpr std::int64_t kMost = 1 << 24;
  const auto read = [&](const char* key, std::int64_t most) {
    const std::string full = architecture + "." + key;
    return read_size(file, full, file.require<std::int64_t>(full), most);
  };
  const auto read_or = [&](const char* key, std::int64_t fallback) {
    const std::string full = architecture + "." + key;
    return read_size(file, full, file.get<std::int64_t>(full).value_or(fallback), kMost);
  };
  TransformerSizes s;
  s.layers = read("block_count", 256);
  s.context = read("context_length", kMost);
  s.embedding = read("embedding_length", 1 << 20);
  s.feed_forward = read("feed_forward_length", 1 << 20);
  s.heads = read("attention.head_count", 1 << 16);
  s.kv_heads = read_or("attention.head_count_kv", s.heads);
  const auto key_length = file.get<std::int64_t>(architecture + ".attention.key_length");
  if (!key_length) require_multiple(file, architecture + ".embedding_length", s.embedding, s.heads);
  s.head = read_or("attention.key_length", s.embedding / s.heads);
  require_multiple(file, architecture + ".attention.head_count", s.heads, s.kv_heads);
  require_multiple(file, "the size of a head", s.head, 2);
  if (static_cast<std::int64_t>(s.heads) * s.head > 1 << 20)
    throw Error(ErrorCode::bad_model, file.path() + ": " + std::to_string(s.heads) + " heads of size " +
                                          std::to_string(s.head) + " are more than " + std::to_string(1 << 20) +
                                          " in all");

  const GgufTensor* embedding = file.find("token_embd.weight");
  if (embedding == nullptr) throw Error(ErrorCode::bad_model, file.path() + ": tensor token_embd.weight is missing");
  s.vocab = read_size(file, "rows of token_embd.weight", embedding->shape[1], kMost);
  if (const auto vocab = file.get<std::int64_t>(architecture + ".vocab_size"); vocab && *vocab != s.vocab)
    throw Error(ErrorCode::bad_model, file.path() + ": key " + architecture + ".vocab_size is " +
                                          std::to_string(*vocab) + ", but token_embd.weight has " +
                                          std::to_string(s.vocab) + " rows");
  return s;
}

float read_epsilon(const Gguf& file, const std::string& key) {
  const double value = file.require<double>(key);
  if (!(value > 0 && value < 1))
    throw Error(ErrorCode::bad_model,
                file.path() + ": key " + key + " is " + std::to_string(value) + ", allowed: between 0 and 1");
  return static_cast<float>(value);
}

TransformerSizes read_encoder_sizes(const Gguf& file, const std::string& architecture) {
  const TransformerSizes s = read_sizes(file, architecture);
  if (s.heads * s.head != s.embedding || s.kv_heads != s.heads)
    throw Error(ErrorCode::bad_model, file.path() + ": " + std::to_string(s.heads) + " heads (" +
                                          std::to_string(s.kv_heads) + " of keys) of size " + std::to_string(s.head) +
                                          " do not make up " + architecture + ".embedding_length, " +
                                          std::to_string(s.embedding));
  return s;
}

Rope read_rope(const Gguf& file, const std::string& architecture, int mode, int head) {
  const std::string key = architecture + ".rope.dimension_count";
  const std::int64_t turned = file.get<std::int64_t>(key).value_or(head);
  if (turned != head)
    throw Error(ErrorCode::bad_model, file.path() + ": key " + key + " is " + std::to_string(turned) +
                                          ", expected the size of a head, " + std::to_string(head));
  const double base = file.get<double>(architecture + ".rope.freq_base").value_or(10000);
  if (!(base > 1))
    throw Error(ErrorCode::bad_model, file.path() + ": key " + architecture + ".rope.freq_base is " +
                                          std::to_string(base) + ", allowed: above 1");
  const std::string scaling = file.get<std::string>(architecture + ".rope.scaling.type").value_or("none");
  if (scaling != "none")
    throw Error(ErrorCode::unsupported,
                file.path() + ": key " + architecture + ".rope.scaling.type is '" + scaling + "', supported: none");
  return {mode, head, static_cast<float>(base)};
}

}  // namespace pgdlm
