// LLaDA: a LLaMA-shaped encoder. llama.cpp turns adjacent pairs where the checkpoint turns halves, so the rows of each
// head of q and k are interleaved.
#include "convert/families.h"

namespace pgdlm {
namespace {

DecoderSizes llada_sizes(const JsonFile& config) {
  config.expect("block_type", "llama");
  config.expect("activation_type", "silu");
  config.expect("layer_norm_type", "rms");
  config.expect("rope", true);
  for (const char* off : {"alibi", "attention_layer_norm", "input_emb_norm", "scale_logits", "multi_query_attention"})
    config.expect(off, false);
  config.expect("block_group_size", 1);
  DecoderSizes sizes;
  sizes.layers = config.size({"n_layers", "num_hidden_layers"});
  sizes.context = config.size({"max_sequence_length", "max_position_embeddings"}, 4096);
  sizes.embedding = config.size({"d_model", "hidden_size"});
  sizes.feed_forward = config.size({"mlp_hidden_size", "intermediate_size"});
  sizes.heads = config.size({"n_heads", "num_attention_heads"});
  sizes.kv_heads = config.size({"n_kv_heads", "num_key_value_heads"}, sizes.heads);
  sizes.head = config.size({"head_dim"}, sizes.embedding / sizes.heads);
  sizes.vocab = config.size({"embedding_size", "vocab_size"});
  sizes.epsilon = config.positive("rms_norm_eps", 1e-5);
  sizes.rope_base = config.positive("rope_theta", 10000.0);
  if (sizes.kv_heads < 1 || sizes.heads % sizes.kv_heads != 0 || sizes.head < 2 || sizes.head % 2 != 0)
    config.fail("heads do not fit together: n_heads " + std::to_string(sizes.heads) + ", n_kv_heads " +
                std::to_string(sizes.kv_heads) + ", size " + std::to_string(sizes.head));
  return sizes;
}

void plan_layer(const DecoderSizes& s, std::int64_t layer, Plan& plan) {
  const std::int64_t d = s.embedding, q = s.heads * s.head, kv = s.kv_heads * s.head;
  const std::string to = "blk." + std::to_string(layer) + ".";
  const std::string from = "model.transformer.blocks." + std::to_string(layer) + ".";
  const auto linear = [&](const char* name, const char* hf, std::int64_t out, std::int64_t in, bool paired = false) {
    const std::int64_t head = paired ? s.head : 0;
    plan.copy(to + name + ".weight", from + hf + ".weight", {out, in}).paired_head = head;
    if (plan.has(from + hf + ".bias")) plan.copy(to + name + ".bias", from + hf + ".bias", {out}).paired_head = head;
  };
  plan.copy(to + "attn_norm.weight", from + "attn_norm.weight", {d});
  linear("attn_q", "q_proj", q, d, true);
  linear("attn_k", "k_proj", kv, d, true);
  linear("attn_v", "v_proj", kv, d);
  linear("attn_output", "attn_out", d, q);
  plan.copy(to + "ffn_norm.weight", from + "ff_norm.weight", {d});
  linear("ffn_gate", "ff_proj", s.feed_forward, d);
  linear("ffn_up", "up_proj", s.feed_forward, d);
  linear("ffn_down", "ff_out", d, s.feed_forward);
  plan.ignore(from + "rotary_emb.inv_freq");  // follows from rope_theta
}

void plan_llada(const JsonFile& config, Plan& plan) {
  const DecoderSizes sizes = llada_sizes(config);
  set_decoder_keys("llada", sizes, plan);
  plan.set("llada.attention.causal", false);
  plan.set("diffusion.shift_logits", false);
  plan.copy("token_embd.weight", "model.transformer.wte.weight", {sizes.vocab, sizes.embedding});
  for (std::int64_t i = 0; i < sizes.layers; ++i) plan_layer(sizes, i, plan);
  plan.copy("output_norm.weight", "model.transformer.ln_f.weight", {sizes.embedding});
  if (config.get_or<bool>({"weight_tying"}, false))
    plan.ignore("model.transformer.ff_out.weight");
  else
    plan.copy("output.weight", "model.transformer.ff_out.weight", {sizes.vocab, sizes.embedding});
}

TokenizerRules llada_tokenizer(const JsonFile& config) {
  constexpr std::int64_t kRows = 126464, kMask = 126336;  // of LLaDA-8B, some revisions of which name no mask
  TokenizerRules rules{.rows = config.size({"embedding_size", "vocab_size"}),
                       .default_pre = "bailingmoe",
                       .mask = config.get<std::int64_t>("mask_token_id"),
                       .names = {{"mask", "<|mdm_mask|>"}},
                       .needs_mask = true,
                       .add_bos = true};
  if (!rules.mask && rules.rows == kRows) rules.mask = kMask;
  return rules;
}

}  // namespace

Family llada_family() { return {.architecture = "llada", .plan = plan_llada, .tokenizer = llada_tokenizer}; }

}  // namespace pgdlm
