// Qwen2.5-Math-PRM: a causal Qwen2 whose head, linear-ReLU-linear, says at every step token whether the step is good.
#include "models/decoder.h"

namespace pgdlm {
namespace {

class Qwen2Prm final : public Network {
 public:
  explicit Qwen2Prm(Weights& weights)
      : decoder_(weights, {.architecture = "qwen2", .rope_mode = GGML_ROPE_TYPE_NEOX, .causal = true}) {
    const int d = decoder_.sizes().embedding;
    inner_ = linear_weights(weights, "cls", d, d, Bias::required);
    outer_ = linear_weights(weights, "cls.output", d, kOutputs, Bias::required);
  }

  NetworkSizes sizes() const override {
    const TransformerSizes& s = decoder_.sizes();
    return {s.context, s.vocab, s.embedding, kOutputs, s.layers};
  }
  ggml_tensor* trunk(Graph& g) const override { return decoder_.run(g); }
  ggml_tensor* head(Graph& g, ggml_tensor* hidden) const override {
    return linear(g, outer_, ggml_relu(g.context(), linear(g, inner_, hidden)));
  }

 private:
  static constexpr int kOutputs = 2;  // bad, good

  Decoder decoder_;
  Linear inner_, outer_;
};

}  // namespace

std::unique_ptr<Network> make_qwen2_prm(Weights& weights) { return std::make_unique<Qwen2Prm>(weights); }

}  // namespace pgdlm
