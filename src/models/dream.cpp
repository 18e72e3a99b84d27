// Dream: Qwen2 made bidirectional. Row l of its logits speaks of position l+1 (diffusion.shift_logits), which is the
// business of whoever reads them.
#include "models/decoder.h"

namespace pgdlm {

std::unique_ptr<Network> make_dream(Weights& weights) {
  return make_masked_decoder(weights, {.architecture = "dream", .rope_mode = GGML_ROPE_TYPE_NEOX});
}

}  // namespace pgdlm
