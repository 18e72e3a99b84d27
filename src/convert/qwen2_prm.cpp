// Qwen2.5-Math-PRM: a causal Qwen2 with a two-layer head that scores the tokens <extra_0>.
#include "convert/families.h"

namespace pgdlm {
namespace {

constexpr const char* kStepToken = "<extra_0>";

void plan_qwen2_prm(const JsonFile& config, Plan& plan) {
  const DecoderSizes sizes = qwen2_sizes(config);
  const std::int64_t d = sizes.embedding;
  set_decoder_keys("qwen2", sizes, plan);
  plan_qwen2_layers(sizes, plan);
  plan.copy("cls.weight", "score.0.weight", {d, d});
  plan.copy("cls.bias", "score.0.bias", {d});
  plan.copy("cls.output.weight", "score.2.weight", {2, d}).full_precision = true;
  plan.copy("cls.output.bias", "score.2.bias", {2});
  plan.ignore("lm_head.weight");
}

TokenizerRules qwen2_prm_tokenizer(const JsonFile& config) {
  return {.rows = config.size({"vocab_size"}), .default_pre = "qwen2", .default_nfc = true};
}

void set_step_keys(const JsonFile& config, const HfTokenizer& tokenizer, Plan& plan) {
  const auto id = tokenizer.id_of(kStepToken);
  if (!id) plan.fail(std::string("the vocabulary has no token '") + kStepToken + "', at which steps are scored");
  plan.set("reward.step_token_id", *id);
  // Ours, for models that were taught other steps than paragraphs, or whose last step does not speak for all.
  for (const char* key : {"step_separator", "step_join"}) {
    const auto given = config.json().find(key);
    if (given == config.json().end()) continue;
    if (!given->is_string() || given->get<std::string>().empty())
      config.fail(std::string(key) + ": expected a text that is not empty, got " + given->dump());
    plan.set(std::string("reward.") + key, given->get<std::string>());
  }
}

}  // namespace

Family qwen2_prm_family() {
  return {.architecture = "qwen2", .plan = plan_qwen2_prm, .tokenizer = qwen2_prm_tokenizer, .finish = set_step_keys};
}

}  // namespace pgdlm
