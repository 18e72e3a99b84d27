// BERT and RoBERTa (whose position table lost its first rows at conversion): a post-norm encoder. Its head is a
// classifier of the first position, or a masked-LM head, which makes any fill-mask checkpoint a masked diffusion model.
#include <string>
#include <vector>

#include "models/blocks.h"
#include "models/network.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

enum class BertHead { none, classifier, masked_lm };

bool read_tanh(const Gguf& file) {
  const std::string activation = file.get<std::string>("bert.activation").value_or("gelu_erf");
  if (activation != "gelu_erf" && activation != "gelu_tanh")
    throw Error(ErrorCode::bad_model,
                file.path() + ": key bert.activation is '" + activation + "', allowed: gelu_erf, gelu_tanh");
  return activation == "gelu_tanh";
}

class Bert final : public Network {
 public:
  explicit Bert(Weights& weights)
      : sizes_(read_encoder_sizes(weights.file(), "bert")),
        epsilon_(read_epsilon(weights.file(), "bert.attention.layer_norm_epsilon")),
        tanh_(read_tanh(weights.file())) {
    const Gguf& file = weights.file();
    const int d = sizes_.embedding;
    words_ = weights.matrix("token_embd.weight", d, sizes_.vocab);
    places_ = weights.matrix("position_embd.weight", d, sizes_.context);
    if (const GgufTensor* kinds = file.find("token_types.weight"))
      kinds_ = weights.matrix("token_types.weight", d, kinds->shape[1]);
    embedding_norm_ = norm_weights(weights, "token_embd_norm", d, Bias::required);
    for (int i = 0; i < sizes_.layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      layers_.push_back({
          .qkv = qkv_weights(weights, blk, d, d, d),
          .output = linear_weights(weights, blk + "attn_output", d, d, Bias::optional),
          .up = linear_weights(weights, blk + "ffn_up", d, sizes_.feed_forward, Bias::optional),
          .down = linear_weights(weights, blk + "ffn_down", sizes_.feed_forward, d, Bias::optional),
          .attention_norm = norm_weights(weights, blk + "attn_output_norm", d, Bias::required),
          .output_norm = norm_weights(weights, blk + "layer_output_norm", d, Bias::required),
      });
    }
    read_head(weights);
  }

  NetworkSizes sizes() const override {
    return {sizes_.context, sizes_.vocab, sizes_.embedding, outputs_, sizes_.layers};
  }

  ggml_tensor* trunk(Graph& g) const override {
    ggml_context* c = g.context();
    ggml_tensor* x = ggml_add(c, ggml_get_rows(c, words_, g.tokens()), ggml_get_rows(c, places_, g.positions()));
    if (kinds_ != nullptr) x = ggml_add(c, x, first_kind(g));
    x = layer_norm(g, embedding_norm_, x, epsilon_);
    for (int i = 0; i < sizes_.layers; ++i) {
      const Layer& w = layers_[i];
      const bool last = i + 1 == sizes_.layers;
      ggml_tensor* asking = last ? pick(g, x) : x;
      ggml_tensor* q = split_heads(g, queries(g, w.qkv, asking), sizes_.heads);
      ggml_tensor* k = split_heads(g, keys(g, w.qkv, x), sizes_.heads);
      ggml_tensor* v = split_heads(g, values(g, w.qkv, x), sizes_.heads);
      ggml_tensor* mixed =
          g.attend(g.name(q, "q", i), g.name(k, "k", i), g.name(v, "v", i), {.layer = i, .asked_only = last});
      x = layer_norm(g, w.attention_norm, ggml_add(c, asking, linear(g, w.output, mixed)), epsilon_);
      g.name(x, "attention", i);
      ggml_tensor* y = linear(g, w.down, gelu(g, linear(g, w.up, x)));
      x = g.name(layer_norm(g, w.output_norm, ggml_add(c, x, y), epsilon_), "layer", i);
    }
    return x;
  }

  ggml_tensor* head(Graph& g, ggml_tensor* hidden) const override {
    ggml_tensor* x = hidden;
    if (kind_ == BertHead::classifier) {
      if (inner_.weight != nullptr) x = ggml_tanh(g.context(), linear(g, inner_, x));
    } else {
      x = layer_norm(g, head_norm_, gelu(g, linear(g, inner_, x)), epsilon_);
    }
    return linear(g, outer_, x);
  }

 private:
  struct Layer {
    Qkv qkv;
    Linear output, up, down;
    Affine attention_norm, output_norm;
  };

  ggml_tensor* gelu(Graph& g, ggml_tensor* x) const { return tanh_ ? gelu_tanh(g, x) : gelu_erf(g, x); }

  // Texts are never pairs here: all positions are of the first kind. The table may be of any weight type.
  ggml_tensor* first_kind(Graph& g) const {
    ggml_tensor* row = ggml_view_2d(g.context(), kinds_, kinds_->ne[0], 1, kinds_->nb[1], 0);
    return row->type == GGML_TYPE_F32 ? row : ggml_cast(g.context(), row, GGML_TYPE_F32);
  }

  void read_head(Weights& weights) {
    const Gguf& file = weights.file();
    const int d = sizes_.embedding;
    const GgufTensor* labels = file.find("cls.output.weight");
    const bool masked_lm = file.find("mlm.dense.weight") != nullptr;
    if (labels != nullptr && masked_lm)
      throw Error(ErrorCode::bad_model,
                  file.path() + ": has both cls.output.weight and mlm.dense.weight, expected one");
    if (labels != nullptr) {
      kind_ = BertHead::classifier;
      outputs_ = static_cast<int>(labels->shape[1]);
      if (file.find("cls.weight") != nullptr) inner_ = linear_weights(weights, "cls", d, d, Bias::optional);
      outer_ = linear_weights(weights, "cls.output", d, outputs_, Bias::optional);
    } else if (masked_lm) {
      kind_ = BertHead::masked_lm;
      outputs_ = sizes_.vocab;
      inner_ = linear_weights(weights, "mlm.dense", d, d, Bias::optional);
      head_norm_ = norm_weights(weights, "mlm.norm", d, Bias::required);
      outer_.weight = weights.optional_matrix("mlm.output.weight", d, sizes_.vocab);
      if (outer_.weight == nullptr) outer_.weight = words_;
      outer_.bias = weights.optional_vector("mlm.output.bias", sizes_.vocab);
    }
  }

  TransformerSizes sizes_;
  float epsilon_;
  bool tanh_;
  ggml_tensor *words_ = nullptr, *places_ = nullptr, *kinds_ = nullptr;
  Affine embedding_norm_;
  std::vector<Layer> layers_;
  BertHead kind_ = BertHead::none;
  int outputs_ = 0;
  Linear inner_, outer_;
  Affine head_norm_;
};

}  // namespace

std::unique_ptr<Network> make_bert(Weights& weights) { return std::make_unique<Bert>(weights); }

}  // namespace pgdlm
