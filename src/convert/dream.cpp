// Dream: Qwen2 made bidirectional, predicting each position from the row before it.
#include "convert/families.h"

namespace pgdlm {
namespace {

void plan_dream(const JsonFile& config, Plan& plan) {
  const DecoderSizes sizes = qwen2_sizes(config);
  set_decoder_keys("dream", sizes, plan);
  plan.set("dream.attention.causal", false);
  plan.set("diffusion.shift_logits", true);
  plan_qwen2_layers(sizes, plan);
  if (config.get_or<bool>({"tie_word_embeddings"}, false))
    plan.ignore("lm_head.weight");
  else
    plan.copy("output.weight", "lm_head.weight", {sizes.vocab, sizes.embedding});
}

TokenizerRules dream_tokenizer(const JsonFile& config) {
  return {.rows = config.size({"vocab_size"}),
          .default_pre = "qwen2",
          .default_nfc = true,
          .mask = config.get<std::int64_t>("mask_token_id"),
          .names = {{"mask", "<|mask|>"}},
          .needs_mask = true};
}

}  // namespace

Family dream_family() { return {.architecture = "dream", .plan = plan_dream, .tokenizer = dream_tokenizer}; }

}  // namespace pgdlm
