// MDLM's diffusion transformer with its constant time folded in (see src/convert): a plain pre-norm encoder with
// affine LayerNorm, rotary attention and a tanh GELU.
#include <string>
#include <vector>

#include "models/blocks.h"
#include "models/network.h"

namespace pgdlm {
namespace {

class MdlmDit final : public Network {
 public:
  explicit MdlmDit(Weights& weights)
      : sizes_(read_encoder_sizes(weights.file(), "mdlm")),
        epsilon_(read_epsilon(weights.file(), "mdlm.attention.layer_norm_epsilon")),
        embedding_(weights.matrix("token_embd.weight", sizes_.embedding, sizes_.vocab)) {
    const int d = sizes_.embedding;
    rope_ = read_rope(weights.file(), "mdlm", GGML_ROPE_TYPE_NEOX, sizes_.head);
    for (int i = 0; i < sizes_.layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      layers_.push_back({
          .attn_norm = norm_weights(weights, blk + "attn_norm", d, Bias::required),
          .ffn_norm = norm_weights(weights, blk + "ffn_norm", d, Bias::required),
          .qkv = qkv_weights(weights, blk, d, d, d),
          .output = linear_weights(weights, blk + "attn_output", d, d, Bias::optional),
          .up = linear_weights(weights, blk + "ffn_up", d, sizes_.feed_forward, Bias::required),
          .down = linear_weights(weights, blk + "ffn_down", sizes_.feed_forward, d, Bias::required),
      });
    }
    output_norm_ = norm_weights(weights, "output_norm", d, Bias::required);
    output_ = linear_weights(weights, "output", d, sizes_.vocab, Bias::optional);
  }

  NetworkSizes sizes() const override {
    return {sizes_.context, sizes_.vocab, sizes_.embedding, sizes_.vocab, sizes_.layers};
  }

  ggml_tensor* trunk(Graph& g) const override {
    ggml_context* c = g.context();
    ggml_tensor* x = ggml_get_rows(c, embedding_, g.tokens());
    for (int i = 0; i < sizes_.layers; ++i) {
      const Layer& w = layers_[i];
      const bool last = i + 1 == sizes_.layers;
      ggml_tensor* mixed = attention(g, w, layer_norm(g, w.attn_norm, x, epsilon_), i, last);
      x = g.name(ggml_add(c, last ? pick(g, x) : x, linear(g, w.output, mixed)), "attention", i);
      ggml_tensor* y = gelu_tanh(g, linear(g, w.up, layer_norm(g, w.ffn_norm, x, epsilon_)));
      x = g.name(ggml_add(c, x, linear(g, w.down, y)), "layer", i);
    }
    return layer_norm(g, output_norm_, x, epsilon_);
  }

  ggml_tensor* head(Graph& g, ggml_tensor* hidden) const override { return linear(g, output_, hidden); }

 private:
  struct Layer {
    Affine attn_norm, ffn_norm;
    Qkv qkv;
    Linear output, up, down;
  };

  // In the last layer the asked positions alone make queries; all make keys and values.
  ggml_tensor* attention(Graph& g, const Layer& w, ggml_tensor* x, int layer, bool last) const {
    ggml_tensor* q = split_heads(g, queries(g, w.qkv, last ? pick(g, x) : x), sizes_.heads);
    q = rotate(g, q, last ? g.asked_positions() : g.positions(), rope_);
    ggml_tensor* k = rotate(g, split_heads(g, keys(g, w.qkv, x), sizes_.heads), g.positions(), rope_);
    ggml_tensor* v = split_heads(g, values(g, w.qkv, x), sizes_.heads);
    return g.attend(g.name(q, "q", layer), g.name(k, "k", layer), g.name(v, "v", layer),
                    {.layer = layer, .asked_only = last});
  }

  TransformerSizes sizes_;
  float epsilon_;
  ggml_tensor* embedding_;
  Rope rope_;
  std::vector<Layer> layers_;
  Affine output_norm_;
  Linear output_;
};

}  // namespace

std::unique_ptr<Network> make_mdlm(Weights& weights) { return std::make_unique<MdlmDit>(weights); }

}  // namespace pgdlm
