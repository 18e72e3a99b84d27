// LLaDA: a Llama that looks both ways. Its converter permutes the rows of q and k, so that RoPE turns adjacent pairs.
#include "models/decoder.h"

namespace pgdlm {

std::unique_ptr<Network> make_llada(Weights& weights) {
  return make_masked_decoder(weights, {.architecture = "llada", .rope_mode = GGML_ROPE_TYPE_NORMAL});
}

}  // namespace pgdlm
