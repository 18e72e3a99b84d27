// MDLM: a diffusion transformer whose layers are conditioned on a time that is always 0. Being constants, the
// modulations are folded into norms and projections, in double precision, and what is left is a plain encoder.
#include <algorithm>
#include <cmath>

#include "convert/families.h"

namespace pgdlm {
namespace {

using Numbers = std::vector<double>;

struct MdlmSizes {
  std::int64_t layers = 0, context = 0, d = 0, heads = 0, conditioning = 0, vocab = 0;
};

MdlmSizes mdlm_sizes(const JsonFile& config) {
  config.expect("time_conditioning", false);
  MdlmSizes sizes;
  sizes.layers = config.size({"n_blocks"});
  sizes.context = config.size({"model_length"});
  sizes.d = config.size({"hidden_dim"});
  sizes.heads = config.size({"n_heads"});
  sizes.conditioning = config.size({"cond_dim"});
  sizes.vocab = config.size({"vocab_size"});
  if (sizes.d % sizes.heads != 0 || sizes.d / sizes.heads % 2 != 0)
    config.fail("hidden_dim " + std::to_string(sizes.d) + " does not divide into n_heads " +
                std::to_string(sizes.heads) + " heads of even size");
  return sizes;
}

double silu(double x) { return x / (1 + std::exp(-x)); }

// weight x + bias of the linear layer `name`, [out, in].
Numbers apply(Plan& plan, const std::string& name, const Numbers& x, std::int64_t out) {
  const auto in = static_cast<std::int64_t>(x.size());
  const Numbers weight = read_all(plan.take(name + ".weight", {out, in}));
  Numbers y = read_all(plan.take(name + ".bias", {out}));
  for (std::size_t o = 0; o < y.size(); ++o)
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight[o * x.size() + i] * x[i];
  return y;
}

// What every layer is told about time 0: the sinusoids of 0 (cosines first, then sines) through a small network.
Numbers conditioning(const MdlmSizes& sizes, Plan& plan) {
  const std::string name = "backbone.sigma_map.mlp.";
  const Shape& first = plan.shape_of(name + "0.weight");
  if (first.size() != 2 || first[1] < 2 || first[1] % 2 != 0)
    plan.fail("tensor '" + name + "0.weight': expected shape [" + std::to_string(sizes.conditioning) +
              ", an even number], got " + shape_text(first));
  Numbers sinusoids(static_cast<std::size_t>(first[1]), 0.0);
  std::fill(sinusoids.begin(), sinusoids.begin() + first[1] / 2, 1.0);
  Numbers c = apply(plan, name + "0", sinusoids, sizes.conditioning);
  for (double& x : c) x = silu(x);
  c = apply(plan, name + "2", c, sizes.conditioning);
  for (double& x : c) x = silu(x);
  return c;
}

// The i-th part of `all`, d numbers long.
Numbers part(const Numbers& all, std::size_t i, std::int64_t d) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i) * d;
  return {begin, begin + d};
}

std::vector<float> rounded(const Numbers& x) {
  std::vector<float> y;
  for (const double v : x) y.push_back(static_cast<float>(v));
  return y;
}

// LayerNorm without bias, then h (1 + scale) + shift: an affine LayerNorm.
void add_norm(const std::string& to, const std::string& from, const Numbers& shift, const Numbers& scale, Plan& plan) {
  Numbers weight = read_all(plan.take(from + ".weight", {static_cast<std::int64_t>(scale.size())}));
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= 1 + scale[i];
  plan.add_vector(to + ".weight", rounded(weight));
  plan.add_vector(to + ".bias", rounded(shift));
}

// gate * (W x + b): the gate goes into the rows.
void add_gated(const std::string& to, const std::string& from, const Shape& shape, const Numbers& gate, Plan& plan) {
  plan.copy(to + ".weight", from + ".weight", shape).row_scale = gate;
  if (plan.has(from + ".bias")) plan.copy(to + ".bias", from + ".bias", {shape[0]}).row_scale = gate;
}

void plan_layer(const MdlmSizes& s, std::int64_t layer, const Numbers& c, Plan& plan) {
  const std::string to = "blk." + std::to_string(layer) + ".", from = "backbone.blocks." + std::to_string(layer) + ".";
  const std::int64_t d = s.d;
  const Shape up = plan.shape_of(from + "mlp.0.weight");
  const std::int64_t hidden = up.empty() ? 0 : up[0];
  enum { kShiftAttn, kScaleAttn, kGateAttn, kShiftFfn, kScaleFfn, kGateFfn, kParts };  // in the checkpoint's order
  const Numbers all = apply(plan, from + "adaLN_modulation", c, kParts * d);
  add_norm(to + "attn_norm", from + "norm1", part(all, kShiftAttn, d), part(all, kScaleAttn, d), plan);
  plan.copy(to + "attn_qkv.weight", from + "attn_qkv.weight", {3 * d, d});
  plan.copy_if_there(to + "attn_qkv.bias", from + "attn_qkv.bias", {3 * d});
  add_gated(to + "attn_output", from + "attn_out", {d, d}, part(all, kGateAttn, d), plan);
  add_norm(to + "ffn_norm", from + "norm2", part(all, kShiftFfn, d), part(all, kScaleFfn, d), plan);
  plan.copy(to + "ffn_up.weight", from + "mlp.0.weight", {hidden, d});
  plan.copy(to + "ffn_up.bias", from + "mlp.0.bias", {hidden});
  if (!plan.has(from + "mlp.2.bias")) plan.fail("tensor '" + from + "mlp.2.bias' is missing");
  add_gated(to + "ffn_down", from + "mlp.2", {d, hidden}, part(all, kGateFfn, d), plan);
}

void set_keys(const MdlmSizes& s, std::int64_t feed_forward, Plan& plan) {
  plan.set("mdlm.block_count", s.layers);
  plan.set("mdlm.context_length", s.context);
  plan.set("mdlm.embedding_length", s.d);
  plan.set("mdlm.feed_forward_length", feed_forward);
  plan.set("mdlm.attention.head_count", s.heads);
  plan.set("mdlm.attention.layer_norm_epsilon", 1e-5);
  plan.set("mdlm.attention.causal", false);
  plan.set("mdlm.rope.freq_base", 10000.0);
  plan.set("mdlm.vocab_size", s.vocab);
  plan.set("diffusion.shift_logits", false);
}

void plan_mdlm(const JsonFile& config, Plan& plan) {
  const MdlmSizes s = mdlm_sizes(config);
  const Numbers c = conditioning(s, plan);
  plan.copy("token_embd.weight", "backbone.vocab_embed.embedding", {s.vocab, s.d});
  for (std::int64_t i = 0; i < s.layers; ++i) plan_layer(s, i, c, plan);
  set_keys(s, plan.shape_of("backbone.blocks.0.mlp.0.weight")[0], plan);
  const std::string last = "backbone.output_layer.";
  const Numbers all = apply(plan, last + "adaLN_modulation", c, 2 * s.d);  // shift, scale
  add_norm("output_norm", last + "norm_final", part(all, 0, s.d), part(all, 1, s.d), plan);
  plan.copy("output.weight", last + "linear.weight", {s.vocab, s.d});
  plan.copy_if_there("output.bias", last + "linear.bias", {s.vocab});
  plan.ignore("backbone.rotary_emb.inv_freq");  // base 10000, always
}

TokenizerRules mdlm_tokenizer(const JsonFile& config) {
  const std::int64_t rows = config.size({"vocab_size"});
  return {.rows = rows,
          .default_pre = "gpt-2",
          .mask = config.get<std::int64_t>({"mask_index", "mask_token_id"}).value_or(rows - 1),
          .names = {{"bos", "<|endoftext|>"}, {"eos", "<|endoftext|>"}},
          .needs_mask = true,
          .add_bos = true,  // it was trained on texts that begin with <|endoftext|>; GPT-2's own files say no
          .absent_hint =
              "this model uses the tokenizer of gpt2 (https://huggingface.co/gpt2): say where it is with --tokenizer "
              "DIR, or put its vocab.json and merges.txt into the folder"};
}

}  // namespace

Family mdlm_family() { return {.architecture = "mdlm", .plan = plan_mdlm, .tokenizer = mdlm_tokenizer}; }

}  // namespace pgdlm
