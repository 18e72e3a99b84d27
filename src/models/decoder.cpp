#include "models/decoder.h"

#include <memory>
#include <utility>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

class MaskedDecoder final : public Network {
 public:
  MaskedDecoder(Weights& weights, DecoderChoices choices) : decoder_(weights, std::move(choices)) {
    const TransformerSizes& s = decoder_.sizes();
    output_.weight = weights.optional_matrix("output.weight", s.embedding, s.vocab);
    if (output_.weight == nullptr) output_.weight = weights.matrix("token_embd.weight", s.embedding, s.vocab);
  }

  NetworkSizes sizes() const override {
    const TransformerSizes& s = decoder_.sizes();
    return {s.context, s.vocab, s.embedding, s.vocab, s.layers};
  }
  ggml_tensor* trunk(Graph& g) const override { return decoder_.run(g); }
  ggml_tensor* head(Graph& g, ggml_tensor* hidden) const override { return linear(g, output_, hidden); }

 private:
  Decoder decoder_;
  Linear output_;
};

}  // namespace

Decoder::Decoder(Weights& weights, DecoderChoices choices)
    : choices_(std::move(choices)),
      sizes_(read_sizes(weights.file(), choices_.architecture)),
      epsilon_(read_epsilon(weights.file(), choices_.architecture + ".attention.layer_norm_rms_epsilon")),
      rope_(read_rope(weights.file(), choices_.architecture, choices_.rope_mode, sizes_.head)),
      embedding_(weights.matrix("token_embd.weight", sizes_.embedding, sizes_.vocab)) {
  const TransformerSizes& s = sizes_;
  for (int i = 0; i < s.layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    layers_.push_back({
        .attn_norm = norm_weights(weights, blk + "attn_norm", s.embedding, Bias::none),
        .ffn_norm = norm_weights(weights, blk + "ffn_norm", s.embedding, Bias::none),
        .qkv = qkv_weights(weights, blk, s.embedding, s.heads * s.head, s.kv_heads * s.head),
        .output = linear_weights(weights, blk + "attn_output", s.heads * s.head, s.embedding, Bias::optional),
        .gate = linear_weights(weights, blk + "ffn_gate", s.embedding, s.feed_forward, Bias::optional),
        .up = linear_weights(weights, blk + "ffn_up", s.embedding, s.feed_forward, Bias::optional),
        .down = linear_weights(weights, blk + "ffn_down", s.feed_forward, s.embedding, Bias::optional),
    });
  }
  output_norm_ = norm_weights(weights, "output_norm", s.embedding, Bias::none);
}

// The last layer is asked about some positions only: they alone make queries, all make keys and values.
ggml_tensor* Decoder::attention(Graph& g, const Layer& w, ggml_tensor* x, int layer, bool last) const {
  const bool asked_only = last && !choices_.causal;
  ggml_tensor* asking = asked_only ? pick(g, x) : x;
  ggml_tensor* where = asked_only ? g.asked_positions() : g.positions();
  ggml_tensor* q = rotate(g, split_heads(g, queries(g, w.qkv, asking), sizes_.heads), where, rope_);
  ggml_tensor* k = rotate(g, split_heads(g, keys(g, w.qkv, x), sizes_.kv_heads), g.positions(), rope_);
  ggml_tensor* v = split_heads(g, values(g, w.qkv, x), sizes_.kv_heads);
  ggml_tensor* mixed = g.attend(g.name(q, "q", layer), g.name(k, "k", layer), g.name(v, "v", layer),
                                {.layer = layer, .causal = choices_.causal, .asked_only = asked_only});
  if (last && !asked_only) mixed = pick(g, mixed);
  return linear(g, w.output, mixed);
}

ggml_tensor* Decoder::run(Graph& g) const {
  ggml_context* c = g.context();
  ggml_tensor* x = ggml_get_rows(c, embedding_, g.tokens());
  for (int i = 0; i < sizes_.layers; ++i) {
    const Layer& w = layers_[i];
    const bool last = i + 1 == sizes_.layers;
    ggml_tensor* mixed = attention(g, w, rms_norm(g, w.attn_norm, x, epsilon_), i, last);
    x = g.name(ggml_add(c, last ? pick(g, x) : x, mixed), "attention", i);
    ggml_tensor* y = rms_norm(g, w.ffn_norm, x, epsilon_);
    y = swiglu(g, linear(g, w.gate, y), linear(g, w.up, y));
    x = g.name(ggml_add(c, x, linear(g, w.down, y)), "layer", i);
  }
  return rms_norm(g, output_norm_, x, epsilon_);
}

std::unique_ptr<Network> make_masked_decoder(Weights& weights, DecoderChoices choices) {
  return std::make_unique<MaskedDecoder>(weights, std::move(choices));
}

}  // namespace pgdlm
