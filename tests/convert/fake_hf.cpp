#include "convert/fake_hf.h"

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;

std::string layer(const std::string& prefix, int i) { return prefix + std::to_string(i) + "."; }

void fill_qwen2_trunk(FakeFolder& f) {
  f.config.update({{"hidden_size", 8},
                   {"num_hidden_layers", 2},
                   {"num_attention_heads", 4},
                   {"num_key_value_heads", 2},
                   {"intermediate_size", 12},
                   {"max_position_embeddings", 64},
                   {"vocab_size", 12},
                   {"hidden_act", "silu"},
                   {"rope_scaling", nullptr}});
  f.add("model.embed_tokens.weight", {12, 8});
  for (int i = 0; i < 2; ++i) {
    const std::string p = layer("model.layers.", i);
    f.add(p + "input_layernorm.weight", {8});
    f.add(p + "post_attention_layernorm.weight", {8});
    for (const auto& [name, out] : {std::pair{"q", 8}, {"k", 4}, {"v", 4}}) {
      f.add(p + "self_attn." + name + "_proj.weight", {out, 8});
      f.add(p + "self_attn." + name + "_proj.bias", {out});
    }
    f.add(p + "self_attn.o_proj.weight", {8, 8});
    f.add(p + "mlp.gate_proj.weight", {12, 8});
    f.add(p + "mlp.up_proj.weight", {12, 8});
    f.add(p + "mlp.down_proj.weight", {8, 12});
  }
  f.add("model.norm.weight", {8});
  f.add("lm_head.weight", {12, 8});
}

void fill_encoder(FakeFolder& f, const std::string& prefix, std::int64_t positions, std::int64_t types) {
  f.config.update({{"hidden_size", 8},
                   {"num_hidden_layers", 2},
                   {"num_attention_heads", 2},
                   {"intermediate_size", 16},
                   {"max_position_embeddings", positions},
                   {"type_vocab_size", types},
                   {"vocab_size", 12},
                   {"hidden_act", "gelu"}});
  f.add(prefix + "embeddings.word_embeddings.weight", {12, 8});
  f.add(prefix + "embeddings.position_embeddings.weight", {positions, 8});
  f.add(prefix + "embeddings.token_type_embeddings.weight", {types, 8});
  f.add(prefix + "embeddings.LayerNorm.weight", {8});
  f.add(prefix + "embeddings.LayerNorm.bias", {8});
  f.add(prefix + "embeddings.position_ids", {1, positions}).dtype = "I64";
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    f.add(name + ".weight", {out, in});
    f.add(name + ".bias", {out});
  };
  for (int i = 0; i < 2; ++i) {
    const std::string p = layer(prefix + "encoder.layer.", i);
    for (const char* name : {"query", "key", "value"}) linear(p + "attention.self." + name, 8, 8);
    linear(p + "attention.output.dense", 8, 8);
    linear(p + "intermediate.dense", 16, 8);
    linear(p + "output.dense", 8, 16);
    for (const char* name : {"attention.output.LayerNorm", "output.LayerNorm"}) {
      f.add(p + name + ".weight", {8});
      f.add(p + name + ".bias", {8});
    }
  }
  linear(prefix + "pooler.dense", 8, 8);
}

}  // namespace

std::string complaint(const FakeFolder& folder, ggml_type type) {
  try {
    convert(folder.path(), folder.out(), {.type = type});
    return "";
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
}

json tiny_tokenizer(const std::vector<std::string>& added) {
  json tokens = json::array();
  for (std::size_t i = 0; i < added.size(); ++i)
    tokens.push_back({{"id", 4 + i}, {"content", added[i]}, {"special", true}});
  return {
      {"added_tokens", tokens},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"model",
       {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}, {"\u0120", 3}}}, {"merges", json::array({"a b"})}}}};
}

FakeFolder& fill_mdlm(FakeFolder& f) {
  f.config = {{"architectures", {"MDLM"}},
              {"model_type", "mdlm"},
              {"vocab_size", 12},
              {"model_length", 32},
              {"hidden_dim", 8},
              {"cond_dim", 6},
              {"n_blocks", 2},
              {"n_heads", 2},
              {"dropout", 0.1},
              {"time_conditioning", false}};
  f.add("backbone.vocab_embed.embedding", {12, 8});
  f.add("backbone.sigma_map.mlp.0.weight", {6, 10});
  f.add("backbone.sigma_map.mlp.0.bias", {6});
  f.add("backbone.sigma_map.mlp.2.weight", {6, 6});
  f.add("backbone.sigma_map.mlp.2.bias", {6});
  f.add("backbone.rotary_emb.inv_freq", {2});
  for (int i = 0; i < 2; ++i) {
    const std::string p = layer("backbone.blocks.", i);
    f.add(p + "norm1.weight", {8});
    f.add(p + "norm2.weight", {8});
    f.add(p + "attn_qkv.weight", {24, 8});
    f.add(p + "attn_out.weight", {8, 8});
    f.add(p + "mlp.0.weight", {32, 8});
    f.add(p + "mlp.0.bias", {32});
    f.add(p + "mlp.2.weight", {8, 32});
    f.add(p + "mlp.2.bias", {8});
    f.add(p + "adaLN_modulation.weight", {48, 6});
    f.add(p + "adaLN_modulation.bias", {48});
  }
  f.add("backbone.output_layer.norm_final.weight", {8});
  f.add("backbone.output_layer.linear.weight", {12, 8});
  f.add("backbone.output_layer.linear.bias", {12});
  f.add("backbone.output_layer.adaLN_modulation.weight", {16, 6});
  f.add("backbone.output_layer.adaLN_modulation.bias", {16});
  f.json_files["vocab.json"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"<|endoftext|>", 3}};
  f.text_files["merges.txt"] = "#version: 0.2\na b\n";
  return f;
}

FakeFolder& fill_llada(FakeFolder& f) {
  f.config = {{"architectures", {"LLaDAModelLM"}},
              {"model_type", "llada"},
              {"d_model", 8},
              {"n_layers", 2},
              {"n_heads", 2},
              {"n_kv_heads", 1},
              {"mlp_hidden_size", 12},
              {"max_sequence_length", 64},
              {"vocab_size", 12},
              {"embedding_size", 12},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 500000.0},
              {"block_type", "llama"},
              {"alibi", false},
              {"multi_query_attention", nullptr},
              {"weight_tying", false},
              {"mask_token_id", 6},
              {"eos_token_id", 5}};
  f.add("model.transformer.wte.weight", {12, 8});
  f.add("model.transformer.ln_f.weight", {8});
  f.add("model.transformer.ff_out.weight", {12, 8});
  for (int i = 0; i < 2; ++i) {
    const std::string p = layer("model.transformer.blocks.", i);
    f.add(p + "attn_norm.weight", {8});
    f.add(p + "ff_norm.weight", {8});
    f.add(p + "q_proj.weight", {8, 8});
    f.add(p + "k_proj.weight", {4, 8});
    f.add(p + "v_proj.weight", {4, 8});
    f.add(p + "attn_out.weight", {8, 8});
    f.add(p + "ff_proj.weight", {12, 8});
    f.add(p + "up_proj.weight", {12, 8});
    f.add(p + "ff_out.weight", {8, 12});
  }
  f.json_files["tokenizer.json"] = tiny_tokenizer({"<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>", "<|eot_id|>"});
  f.json_files["tokenizer_config.json"] = {{"bos_token", "<|startoftext|>"},
                                           {"eos_token", "<|endoftext|>"},
                                           {"chat_template", "{{ '<|start_header_id|>' }}"}};
  return f;
}

FakeFolder& fill_dream(FakeFolder& f) {
  f.config = {{"architectures", {"DreamModel"}},
              {"model_type", "Dream"},
              {"rms_norm_eps", 1e-6},
              {"rope_theta", 1e6},
              {"mask_token_id", 5},
              {"tie_word_embeddings", false}};
  fill_qwen2_trunk(f);
  f.json_files["vocab.json"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"\u0120", 3}};
  f.text_files["merges.txt"] = "#version: 0.2\na b\n";
  f.json_files["added_tokens.json"] = {{"<|endoftext|>", 4}, {"<|mask|>", 5}, {"<|im_end|>", 6}};
  f.json_files["tokenizer_config.json"] = {{"eos_token", "<|endoftext|>"}, {"add_bos_token", false}};
  return f;
}

FakeFolder& fill_qwen2_prm(FakeFolder& f) {
  f.config = {{"architectures", {"Qwen2ForProcessRewardModel"}},
              {"model_type", "qwen2"},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 10000.0}};
  fill_qwen2_trunk(f);
  f.add("score.0.weight", {8, 8});
  f.add("score.0.bias", {8});
  f.add("score.2.weight", {2, 8});
  f.add("score.2.bias", {2});
  f.json_files["tokenizer.json"] = tiny_tokenizer({"<|endoftext|>", "<extra_0>"});
  return f;
}

FakeFolder& fill_bert(FakeFolder& f, FakeHead head) {
  f.config = {{"model_type", "bert"}, {"layer_norm_eps", 1e-12}, {"pad_token_id", 0}};
  fill_encoder(f, head == FakeHead::none ? "" : "bert.", 16, 2);
  if (head == FakeHead::classifier) {
    f.config["architectures"] = {"BertForSequenceClassification"};
    f.add("classifier.weight", {2, 8});
    f.add("classifier.bias", {2});
  } else if (head == FakeHead::masked_lm) {
    f.config["architectures"] = {"BertForMaskedLM"};
    f.add("cls.predictions.transform.dense.weight", {8, 8});
    f.add("cls.predictions.transform.dense.bias", {8});
    f.add("cls.predictions.transform.LayerNorm.gamma", {8});
    f.add("cls.predictions.transform.LayerNorm.beta", {8});
    f.add("cls.predictions.bias", {12});
    f.add("cls.predictions.decoder.weight", {12, 8});
    f.add("cls.seq_relationship.weight", {2, 8});
    f.add("cls.seq_relationship.bias", {2});
  } else {
    f.config["architectures"] = {"BertModel"};
  }
  f.text_files["vocab.txt"] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n##s\n.\n";
  return f;
}

FakeFolder& fill_roberta(FakeFolder& f, FakeHead head) {
  f.config = {{"model_type", "roberta"}, {"layer_norm_eps", 1e-5}, {"pad_token_id", 1}};
  fill_encoder(f, "roberta.", 18, 1);
  if (head == FakeHead::classifier) {
    f.config["architectures"] = {"RobertaForSequenceClassification"};
    f.config["id2label"] = {{"0", "negative"}, {"1", "neutral"}, {"2", "positive"}};
    f.add("classifier.dense.weight", {8, 8});
    f.add("classifier.dense.bias", {8});
    f.add("classifier.out_proj.weight", {3, 8});
    f.add("classifier.out_proj.bias", {3});
  } else if (head == FakeHead::masked_lm) {
    f.config["architectures"] = {"RobertaForMaskedLM"};
    f.add("lm_head.dense.weight", {8, 8});
    f.add("lm_head.dense.bias", {8});
    f.add("lm_head.layer_norm.weight", {8});
    f.add("lm_head.layer_norm.bias", {8});
    f.add("lm_head.bias", {12});
    f.add("lm_head.decoder.weight", {12, 8});
    f.tensors["lm_head.decoder.bias"] = f.tensors["lm_head.bias"];
  } else {
    f.config["architectures"] = {"RobertaModel"};
  }
  f.json_files["vocab.json"] = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3},
                                {"a", 4},   {"b", 5},     {"ab", 6},   {"<mask>", 7}};
  f.text_files["merges.txt"] = "#version: 0.2\na b\n";
  return f;
}

}  // namespace pgdlm
