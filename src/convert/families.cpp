#include "convert/families.h"

#include <array>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

struct Registered {
  std::string_view name;
  Family (*family)();
};

constexpr std::array kByArchitecture = {
    Registered{"MDLM", mdlm_family},
    Registered{"LLaDAModelLM", llada_family},
    Registered{"LLaDAModel", llada_family},
    Registered{"DreamModel", dream_family},
    Registered{"Qwen2ForProcessRewardModel", qwen2_prm_family},
    Registered{"BertModel", bert_family},
    Registered{"BertForMaskedLM", bert_family},
    Registered{"BertForPreTraining", bert_family},
    Registered{"BertForSequenceClassification", bert_family},
    Registered{"RobertaModel", roberta_family},
    Registered{"RobertaForMaskedLM", roberta_family},
    Registered{"RobertaForSequenceClassification", roberta_family},
};

// For files that do not say their architecture. Qwen2 is not among them: a Qwen2 without a reward head is no model
// here.
constexpr std::array kByModelType = {
    Registered{"mdlm", mdlm_family}, Registered{"llada", llada_family},     Registered{"Dream", dream_family},
    Registered{"bert", bert_family}, Registered{"roberta", roberta_family},
};

template <class Table>
const Registered* look_up(const Table& table, const nlohmann::json& name) {
  for (const Registered& known : table)
    if (name == known.name) return &known;
  return nullptr;
}

// rope_theta, which newer files keep in rope_parameters. Any scaling of positions means another model.
double rope_base(const JsonFile& config) {
  double base = config.positive("rope_theta", 10000.0);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    const auto given = config.json().find(name);
    if (given == config.json().end() || !given->is_object()) continue;
    const nlohmann::json newer = given->value("rope_type", nlohmann::json());
    const nlohmann::json type = newer.is_null() ? given->value("type", nlohmann::json()) : newer;
    if (!type.is_null() && type != "default")
      throw Error(ErrorCode::unsupported,
                  config.path() + ": " + name + " of type " + type.dump() + ", supported: none");
    const nlohmann::json theta = given->value("rope_theta", nlohmann::json());
    if (!theta.is_null()) base = config.real(std::string(name) + ".rope_theta", theta);
  }
  return base;
}

}  // namespace

Family find_family(const JsonFile& config) {
  const nlohmann::json& json = config.json();
  const auto architectures = json.find("architectures");
  const bool named = architectures != json.end() && architectures->is_array() && !architectures->empty();
  if (named) {
    for (const nlohmann::json& name : *architectures)
      if (const Registered* known = look_up(kByArchitecture, name)) return known->family();
  } else if (const auto type = json.find("model_type"); type != json.end()) {
    if (const Registered* known = look_up(kByModelType, *type)) return known->family();
  }
  std::string supported;
  for (const Registered& known : kByArchitecture)
    supported += (supported.empty() ? "" : ", ") + std::string(known.name);
  throw Error(ErrorCode::unsupported, config.path() + ": architectures is " +
                                          (named ? architectures->dump() : "missing") + ", supported: " + supported);
}

void set_decoder_keys(std::string_view architecture, const DecoderSizes& sizes, Plan& plan) {
  const auto set = [&](const char* key, GgufValue value) {
    plan.set(std::string(architecture) + key, std::move(value));
  };
  set(".block_count", sizes.layers);
  set(".context_length", sizes.context);
  set(".embedding_length", sizes.embedding);
  set(".feed_forward_length", sizes.feed_forward);
  set(".attention.head_count", sizes.heads);
  set(".attention.head_count_kv", sizes.kv_heads);
  set(".attention.key_length", sizes.head);
  set(".attention.value_length", sizes.head);
  set(".attention.layer_norm_rms_epsilon", sizes.epsilon);
  set(".rope.freq_base", sizes.rope_base);
  set(".rope.dimension_count", sizes.head);
  set(".vocab_size", sizes.vocab);
}

DecoderSizes qwen2_sizes(const JsonFile& config) {
  config.expect("hidden_act", "silu");
  config.expect("use_sliding_window", false);
  DecoderSizes sizes;
  sizes.layers = config.size({"num_hidden_layers"});
  sizes.context = config.size({"max_position_embeddings"});
  sizes.embedding = config.size({"hidden_size"});
  sizes.feed_forward = config.size({"intermediate_size"});
  sizes.heads = config.size({"num_attention_heads"});
  sizes.kv_heads = config.size({"num_key_value_heads"}, sizes.heads);
  sizes.head = config.size({"head_dim"}, sizes.embedding / sizes.heads);
  sizes.vocab = config.size({"vocab_size"});
  sizes.epsilon = config.positive("rms_norm_eps", 1e-6);
  sizes.rope_base = rope_base(config);
  if (sizes.kv_heads < 1 || sizes.heads % sizes.kv_heads != 0 || sizes.head < 2 || sizes.head % 2 != 0)
    config.fail("heads do not fit together: num_attention_heads " + std::to_string(sizes.heads) +
                ", num_key_value_heads " + std::to_string(sizes.kv_heads) + ", size " + std::to_string(sizes.head));
  return sizes;
}

void plan_qwen2_layers(const DecoderSizes& s, Plan& plan) {
  const std::int64_t d = s.embedding, q = s.heads * s.head, kv = s.kv_heads * s.head;
  plan.copy("token_embd.weight", "model.embed_tokens.weight", {s.vocab, d});
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string to = "blk." + std::to_string(i) + ".", from = "model.layers." + std::to_string(i) + ".";
    const auto linear = [&](const char* name, const char* hf, std::int64_t out, std::int64_t in) {
      plan.copy(to + name + ".weight", from + hf + ".weight", {out, in});
      plan.copy_if_there(to + name + ".bias", from + hf + ".bias", {out});
    };
    plan.copy(to + "attn_norm.weight", from + "input_layernorm.weight", {d});
    linear("attn_q", "self_attn.q_proj", q, d);
    linear("attn_k", "self_attn.k_proj", kv, d);
    linear("attn_v", "self_attn.v_proj", kv, d);
    linear("attn_output", "self_attn.o_proj", d, q);
    plan.copy(to + "ffn_norm.weight", from + "post_attention_layernorm.weight", {d});
    linear("ffn_gate", "mlp.gate_proj", s.feed_forward, d);
    linear("ffn_up", "mlp.up_proj", s.feed_forward, d);
    linear("ffn_down", "mlp.down_proj", d, s.feed_forward);
    plan.ignore(from + "self_attn.rotary_emb.inv_freq");  // follows from rope_theta
  }
  plan.copy("output_norm.weight", "model.norm.weight", {d});
}

}  // namespace pgdlm
