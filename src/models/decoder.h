// The Llama-like stack that LLaDA, Dream and Qwen2 share: RMS norm, rotary attention with grouped keys, SwiGLU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/blocks.h"
#include "models/network.h"

namespace pgdlm {

struct DecoderChoices {
  std::string architecture;  // prefix of the keys
  int rope_mode = 0;         // GGML_ROPE_TYPE_NORMAL or _NEOX
  bool causal = false;
};

class Decoder {
 public:
  Decoder(Weights& weights, DecoderChoices choices);

  const TransformerSizes& sizes() const { return sizes_; }
  ggml_tensor* run(Graph& g) const;  // [embedding, asked], after the last norm

 private:
  struct Layer {
    Affine attn_norm, ffn_norm;
    Qkv qkv;
    Linear output, gate, up, down;
  };

  ggml_tensor* attention(Graph& g, const Layer& w, ggml_tensor* x, int layer, bool last) const;

  DecoderChoices choices_;
  TransformerSizes sizes_;
  float epsilon_;
  Rope rope_;
  ggml_tensor* embedding_;
  std::vector<Layer> layers_;
  Affine output_norm_;
};

// LLaDA and Dream: the bidirectional stack, then logits over the vocabulary.
std::unique_ptr<Network> make_masked_decoder(Weights& weights, DecoderChoices choices);

}  // namespace pgdlm
