// BERT and RoBERTa: a post-norm encoder with a classifier, a masked-LM head, or none. Checkpoints come in several
// spellings (with or without the prefix of the trunk, gamma and beta for LayerNorm), which are read as one.
#include <algorithm>
#include <array>

#include "convert/families.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

struct BertSizes {
  std::int64_t layers = 0, positions = 0, d = 0, feed_forward = 0, heads = 0, vocab = 0, types = 0;
  std::int64_t skipped = 0;  // positions at the beginning of the table that no token ever has
};

std::string renamed(std::string_view prefix, std::string_view name) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto respelt = [&](std::string_view old, std::string_view now) {
    return std::string(name.substr(0, name.size() - old.size())).append(now);
  };
  if (name.ends_with(".gamma")) return respelt(".gamma", ".weight");
  if (name.ends_with(".beta")) return respelt(".beta", ".bias");
  return std::string(name);
}
std::string bert_name(std::string_view name) { return renamed("bert.", name); }
std::string roberta_name(std::string_view name) { return renamed("roberta.", name); }

BertSizes bert_sizes(const JsonFile& config, bool roberta) {
  config.expect("position_embedding_type", "absolute");
  config.expect("is_decoder", false);
  BertSizes sizes;
  sizes.layers = config.size({"num_hidden_layers"});
  sizes.positions = config.size({"max_position_embeddings"});
  sizes.d = config.size({"hidden_size"});
  sizes.feed_forward = config.size({"intermediate_size"});
  sizes.heads = config.size({"num_attention_heads"});
  sizes.vocab = config.size({"vocab_size"});
  sizes.types = config.size({"type_vocab_size"}, 2);
  if (roberta) sizes.skipped = config.get_or<std::int64_t>({"pad_token_id"}, 1) + 1;
  if (sizes.d % sizes.heads != 0)
    config.fail("hidden_size " + std::to_string(sizes.d) + " does not divide into num_attention_heads " +
                std::to_string(sizes.heads));
  if (sizes.skipped < 0 || sizes.skipped >= sizes.positions)
    config.fail("pad_token_id leaves no positions of max_position_embeddings " + std::to_string(sizes.positions));
  return sizes;
}

std::string activation(const JsonFile& config) {
  const std::string name = config.get_or<std::string>({"hidden_act"}, "gelu");
  if (name == "gelu" || name == "gelu_python") return "gelu_erf";
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    if (name == tanh) return "gelu_tanh";
  throw Error(ErrorCode::unsupported, config.path() + ": hidden_act is '" + name +
                                          "', supported: gelu, gelu_python, gelu_new, gelu_fast, gelu_pytorch_tanh");
}

void set_keys(const JsonFile& config, const BertSizes& sizes, bool roberta, Plan& plan) {
  plan.set("bert.block_count", sizes.layers);
  plan.set("bert.context_length", sizes.positions - sizes.skipped);
  plan.set("bert.embedding_length", sizes.d);
  plan.set("bert.feed_forward_length", sizes.feed_forward);
  plan.set("bert.attention.head_count", sizes.heads);
  plan.set("bert.attention.layer_norm_epsilon", config.positive("layer_norm_eps", roberta ? 1e-5 : 1e-12));
  plan.set("bert.attention.causal", false);
  plan.set("bert.vocab_size", sizes.vocab);
  plan.set("bert.activation", activation(config));
  plan.set("tokenizer.ggml.token_type_count", sizes.types);
}

void copy_linear(const std::string& to, const std::string& from, std::int64_t out, std::int64_t in, Plan& plan) {
  plan.copy(to + ".weight", from + ".weight", {out, in});
  plan.copy(to + ".bias", from + ".bias", {out});
}

void copy_norm(const std::string& to, const std::string& from, std::int64_t d, Plan& plan) {
  plan.copy(to + ".weight", from + ".weight", {d});
  plan.copy(to + ".bias", from + ".bias", {d});
}

void plan_trunk(const BertSizes& s, Plan& plan) {
  const std::string embeddings = "embeddings.";
  plan.copy("token_embd.weight", embeddings + "word_embeddings.weight", {s.vocab, s.d});
  PlannedTensor& places =
      plan.copy("position_embd.weight", embeddings + "position_embeddings.weight", {s.positions, s.d});
  places.shape[0] -= s.skipped;
  places.first_row = s.skipped;
  places.full_precision = true;
  if (plan.has(embeddings + "token_type_embeddings.weight"))
    plan.copy("token_types.weight", embeddings + "token_type_embeddings.weight", {s.types, s.d}).full_precision = true;
  copy_norm("token_embd_norm", embeddings + "LayerNorm", s.d, plan);
  plan.ignore(embeddings + "position_ids");
  plan.ignore(embeddings + "token_type_ids");
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string to = "blk." + std::to_string(i) + ".", from = "encoder.layer." + std::to_string(i) + ".";
    copy_linear(to + "attn_q", from + "attention.self.query", s.d, s.d, plan);
    copy_linear(to + "attn_k", from + "attention.self.key", s.d, s.d, plan);
    copy_linear(to + "attn_v", from + "attention.self.value", s.d, s.d, plan);
    copy_linear(to + "attn_output", from + "attention.output.dense", s.d, s.d, plan);
    copy_norm(to + "attn_output_norm", from + "attention.output.LayerNorm", s.d, plan);
    copy_linear(to + "ffn_up", from + "intermediate.dense", s.feed_forward, s.d, plan);
    copy_linear(to + "ffn_down", from + "output.dense", s.d, s.feed_forward, plan);
    copy_norm(to + "layer_output_norm", from + "output.LayerNorm", s.d, plan);
  }
}

// One name per output, in order; those Hugging Face would make up where config.json has none.
std::vector<std::string> labels(const JsonFile& config, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back("LABEL_" + std::to_string(i));
  const auto given = config.json().find("id2label");
  if (given == config.json().end() || given->is_null()) return names;
  if (!given->is_object()) config.fail("id2label: expected an object");
  if (static_cast<std::int64_t>(given->size()) != count)
    config.fail("id2label has " + std::to_string(given->size()) + " labels, the classifier " + std::to_string(count) +
                " outputs");
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = given->find(std::to_string(i));
    if (label == given->end()) config.fail("id2label: no name for output " + std::to_string(i));
    // Some name their outputs by numbers.
    names[static_cast<std::size_t>(i)] = label->is_string() ? label->get<std::string>() : label->dump();
  }
  return names;
}

// RoBERTa's own inner layer, or BERT's pooler: both are linear and tanh, of the first position.
void plan_classifier(const JsonFile& config, const BertSizes& s, bool roberta, Plan& plan) {
  const std::string inner = roberta ? "classifier.dense" : "pooler.dense";
  const std::string outer = roberta ? "classifier.out_proj" : "classifier";
  const Shape& shape = plan.shape_of(outer + ".weight");
  const std::int64_t count = shape.empty() ? 0 : shape[0];
  copy_linear("cls", inner, s.d, s.d, plan);
  plan.copy("cls.output.weight", outer + ".weight", {count, s.d}).full_precision = true;
  plan.copy("cls.output.bias", outer + ".bias", {count});
  plan.set("bert.pooling_type", std::int64_t{4});
  plan.set("bert.classifier.output_labels", labels(config, count));
}

struct MaskedLmNames {
  std::string dense, norm, bias, decoder;
};

void plan_masked_lm(const JsonFile& config, const BertSizes& s, const MaskedLmNames& names, Plan& plan) {
  copy_linear("mlm.dense", names.dense, s.d, s.d, plan);
  copy_norm("mlm.norm", names.norm, s.d, plan);
  if (config.get_or<bool>({"tie_word_embeddings"}, true))
    plan.ignore(names.decoder + ".weight");  // a copy of the embedding
  else
    plan.copy("mlm.output.weight", names.decoder + ".weight", {s.vocab, s.d});
  // One bias under two names; files have either or both.
  plan.copy("mlm.output.bias", plan.has(names.bias) ? names.bias : names.decoder + ".bias", {s.vocab});
  plan.ignore(names.bias);
  plan.ignore(names.decoder + ".bias");
}

// RoBERTa's masked-LM head has the erf form whatever the layers have; a GGUF file has one name for both.
void check_one_activation(const JsonFile& config) {
  if (activation(config) == "gelu_erf") return;
  throw Error(ErrorCode::unsupported, config.path() + ": hidden_act is " + config.json()["hidden_act"].dump() +
                                          ", supported for the masked-LM head of RoBERTa: gelu, gelu_python");
}

std::string architectures(const JsonFile& config) {
  return config.json().value("architectures", nlohmann::json::array()).dump();
}

// A checkpoint may carry the head of an earlier training beside the one config.json names; without a name, a classifier
// was trained last.
bool is_masked_lm(const JsonFile& config, bool classifier, bool masked_lm) {
  if (!classifier || !masked_lm) return masked_lm;
  const std::string named = architectures(config);
  return named.find("ForMaskedLM") != std::string::npos || named.find("ForPreTraining") != std::string::npos;
}

void plan_either(const JsonFile& config, bool roberta, Plan& plan) {
  const BertSizes sizes = bert_sizes(config, roberta);
  const MaskedLmNames names =
      roberta ? MaskedLmNames{"lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder"}
              : MaskedLmNames{"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                              "cls.predictions.bias", "cls.predictions.decoder"};
  set_keys(config, sizes, roberta, plan);
  plan_trunk(sizes, plan);
  const bool classifier = plan.has(roberta ? "classifier.out_proj.weight" : "classifier.weight");
  const bool masked_lm = plan.has(names.dense + ".weight");
  if (is_masked_lm(config, classifier, masked_lm)) {
    if (roberta) check_one_activation(config);
    plan_masked_lm(config, sizes, names, plan);
  } else if (classifier) {
    plan_classifier(config, sizes, roberta, plan);
  }
  // Left over from other trainings. Where no head was found, its tensors may mean a model that we do not know.
  for (const char* prefix : {"pooler.dense.", "cls.seq_relationship."}) plan.ignore_all(prefix);
  if (classifier || masked_lm)
    for (const char* prefix : {"classifier.", "lm_head.", "cls.predictions."}) plan.ignore_all(prefix);
}

void plan_bert(const JsonFile& config, Plan& plan) { plan_either(config, false, plan); }
void plan_roberta(const JsonFile& config, Plan& plan) { plan_either(config, true, plan); }

// The head config.json promises must be there, or the checkpoint would silently become a bare trunk.
void check_head(const JsonFile& config, const HfTokenizer&, Plan& plan) {
  const std::string named = architectures(config);
  const auto written = [&](std::string_view name) {
    return std::any_of(plan.tensors().begin(), plan.tensors().end(), [&](const auto& t) { return t.name == name; });
  };
  const auto require = [&](std::string_view suffix, std::string_view name, std::string_view what) {
    if (named.find(suffix) != std::string::npos && !written(name))
      plan.fail("config.json says " + named + ", but there are no tensors of a " + std::string(what));
  };
  require("ForSequenceClassification", "cls.output.weight", "classifier");
  require("ForMaskedLM", "mlm.dense.weight", "masked-LM head");
}

TokenizerRules bert_tokenizer(const JsonFile& config) {
  return {.rows = config.size({"vocab_size"}),
          .mask = config.get<std::int64_t>("mask_token_id"),
          .names = {{"unk", "[UNK]"}, {"sep", "[SEP]"}, {"pad", "[PAD]"}, {"cls", "[CLS]"}, {"mask", "[MASK]"}}};
}

TokenizerRules roberta_tokenizer(const JsonFile& config) {
  return {.rows = config.size({"vocab_size"}),
          .default_pre = "roberta-bpe",
          .names = {{"bos", "<s>"},
                    {"eos", "</s>"},
                    {"unk", "<unk>"},
                    {"sep", "</s>"},
                    {"pad", "<pad>"},
                    {"cls", "<s>"},
                    {"mask", "<mask>"}},
          .add_bos = true,
          .add_eos = true};
}

}  // namespace

Family bert_family() {
  return {.architecture = "bert",
          .rename = bert_name,
          .plan = plan_bert,
          .tokenizer = bert_tokenizer,
          .finish = check_head};
}

Family roberta_family() {
  return {.architecture = "bert",
          .rename = roberta_name,
          .plan = plan_roberta,
          .tokenizer = roberta_tokenizer,
          .finish = check_head};
}

}  // namespace pgdlm
