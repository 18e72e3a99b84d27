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
      : sizes_(read_sizes(weights.file(), "mdlm")),
        epsilon_(read_epsilon(weights.file(), "mdlm.attention.layer_norm_epsilon")),
        embedding_(weights.matrix("token_embd.weight", sizes_.embedding, sizes_.vocab)) {
    const int d = sizes_.embedding;
    rope_ = {GGML_ROPE_TYPE_NEOX, sizes_.head,
             static_cast<float>(weights.file().get<double>("mdlm.rope.freq_base").value_or(10000))};
    for (int i = 0; i < sizes_.layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      layers_.push_back({
          .attn_norm = norm_weights(weights, blk + "attn_norm", d, Bias::required),
          .ffn_norm = norm_weights(weights, blk + "ffn_norm", d, Bias::required),
          .qkv = linear_weights(weights, blk + "attn_qkv", d, 3 * d, Bias::optional),
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
    Linear qkv, output, up, down;
  };

  // Rows [first, first + count) x d of the fused projection: q, k and v, in this order, each heads x size.
  ggml_tensor* project(Graph& g, const Layer& w, ggml_tensor* x, int first, int count) const {
    const int d = sizes_.embedding;
    ggml_context* c = g.context();
    const Linear rows{
        ggml_view_2d(c, w.qkv.weight, d, count * d, w.qkv.weight->nb[1], w.qkv.weight->nb[1] * first * d),
        w.qkv.bias == nullptr ? nullptr : ggml_view_1d(c, w.qkv.bias, count * d, w.qkv.bias->nb[0] * first * d)};
    return linear(g, rows, x);
  }

  // In the last layer the asked positions alone make queries; all make keys and values.
  ggml_tensor* attention(Graph& g, const Layer& w, ggml_tensor* x, int layer, bool last) const {
    ggml_tensor* kv = project(g, w, x, 1, 2);
    const auto half = [&](int part) {
      const std::size_t row = ggml_row_size(kv->type, sizes_.head);
      return ggml_view_3d(g.context(), kv, sizes_.head, sizes_.heads, kv->ne[1], row, kv->nb[1],
                          row * part * sizes_.heads);
    };
    ggml_tensor* q = split_heads(g, project(g, w, last ? pick(g, x) : x, 0, 1), sizes_.heads);
    q = rotate(g, q, last ? g.asked_positions() : g.positions(), rope_);
    ggml_tensor* k = rotate(g, half(0), g.positions(), rope_);
    return g.attend(g.name(q, "q", layer), g.name(k, "k", layer), half(1), {.layer = layer, .asked_only = last});
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
