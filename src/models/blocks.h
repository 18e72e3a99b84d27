// What the architectures share: the small steps of a layer, as graph nodes. Shapes are [features, positions].
#pragma once

#include <ggml.h>

#include "models/graph.h"
#include "models/weights.h"

namespace pgdlm {

// A matrix and its bias, which may be null.
struct Linear {
  ggml_tensor *weight = nullptr, *bias = nullptr;
};
struct Affine {
  ggml_tensor *weight = nullptr, *bias = nullptr;
};

// Queries, keys and values of a layer: three matrices, or one with all their rows in this order (attn_qkv).
struct Qkv {
  Linear q, k, v;
  Linear fused;  // if its weight is not null, the others are empty
  int q_size = 0, kv_size = 0;
};

enum class Bias { none, optional, required };
Linear linear_weights(Weights& weights, const std::string& name, int in, int out, Bias bias);
Qkv qkv_weights(Weights& weights, const std::string& layer, int in, int q_size, int kv_size);  // layer: "blk.0."
Affine norm_weights(Weights& weights, const std::string& name, int size, Bias bias);

ggml_tensor* linear(Graph& g, const Linear& w, ggml_tensor* x);
ggml_tensor* queries(Graph& g, const Qkv& w, ggml_tensor* x);
ggml_tensor* keys(Graph& g, const Qkv& w, ggml_tensor* x);
ggml_tensor* values(Graph& g, const Qkv& w, ggml_tensor* x);
ggml_tensor* layer_norm(Graph& g, const Affine& w, ggml_tensor* x, float epsilon);
ggml_tensor* rms_norm(Graph& g, const Affine& w, ggml_tensor* x, float epsilon);
ggml_tensor* gelu_tanh(Graph& g, ggml_tensor* x);
ggml_tensor* gelu_erf(Graph& g, ggml_tensor* x);
ggml_tensor* swiglu(Graph& g, ggml_tensor* gate, ggml_tensor* up);  // silu(gate) * up

// [heads * size, positions] -> [size, heads, positions]
ggml_tensor* split_heads(Graph& g, ggml_tensor* x, int heads);
ggml_tensor* rotate(Graph& g, ggml_tensor* x, ggml_tensor* positions, const Rope& rope);
ggml_tensor* pick(Graph& g, ggml_tensor* x);  // the asked positions of x

// Which RoPE and which GELU a file asks for is its architecture's business; sizes are read and checked here.
struct TransformerSizes {
  int layers = 0, context = 0, embedding = 0, feed_forward = 0, heads = 0, kv_heads = 0, head = 0, vocab = 0;
};
TransformerSizes read_sizes(const Gguf& file, const std::string& architecture);
TransformerSizes read_encoder_sizes(const Gguf& file, const std::string& architecture);  // heads fill the embedding
Rope read_rope(const Gguf& file, const std::string& architecture, int mode, int head);
float read_epsilon(const Gguf& file, const std::string& key);

}  // namespace pgdlm
