// Every family, converted from a small folder: keys, tensors, and exact values, those that are rearranged or folded
// against a plain computation here.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/fake_hf.h"

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::FloatNear;
using testing::Pointwise;

void expect_same(const FakeFolder& folder, const Gguf& file, const std::string& to, const std::string& from) {
  EXPECT_EQ(floats(file, to), folder.tensors.at(from).values) << to;
  const GgufTensor* tensor = file.find(to);
  ASSERT_NE(tensor, nullptr) << to;
  const auto& shape = folder.tensors.at(from).shape;
  ASSERT_EQ(tensor->dimensions, static_cast<int>(shape.size()));
  for (std::size_t d = 0; d < shape.size(); ++d) EXPECT_EQ(tensor->shape[d], shape[shape.size() - 1 - d]) << to;
}

// ---- LLaDA ----

// llama.cpp's permutation, as its reshape says it: [head, half, i] becomes [head, i, half].
std::vector<float> interleaved(const FakeTensor& tensor, int head) {
  const auto columns = static_cast<std::size_t>(tensor.shape.size() == 2 ? tensor.shape[1] : 1);
  std::vector<float> out(tensor.values.size());
  const auto rows = static_cast<int>(tensor.shape[0]);
  for (int h = 0; h < rows / head; ++h)
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < head / 2; ++i)
        for (std::size_t c = 0; c < columns; ++c)
          out[static_cast<std::size_t>((h * head / 2 + i) * 2 + half) * columns + c] =
              tensor.values[static_cast<std::size_t>((h * 2 + half) * head / 2 + i) * columns + c];
  return out;
}

TEST(ConvertFamilies, Llada) {
  for (const std::size_t shards : {1, 3}) {
    FakeFolder folder("llada");
    fill_llada(folder).add("model.transformer.blocks.0.q_proj.bias", {8});
    folder.write(shards);
    const auto file = folder.converted();
    EXPECT_EQ(file->require<std::string>("general.architecture"), "llada");
    EXPECT_EQ(file->require<std::int64_t>("llada.block_count"), 2);
    EXPECT_EQ(file->require<std::int64_t>("llada.attention.head_count"), 2);
    EXPECT_EQ(file->require<std::int64_t>("llada.attention.head_count_kv"), 1);
    EXPECT_EQ(file->require<std::int64_t>("llada.rope.dimension_count"), 4);
    EXPECT_EQ(file->require<double>("llada.rope.freq_base"), 500000);
    EXPECT_FALSE(file->require<bool>("llada.attention.causal"));
    EXPECT_FALSE(file->require<bool>("diffusion.shift_logits"));
    EXPECT_TRUE(file->require<bool>("tokenizer.ggml.add_bos_token"));
    EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 6);
    EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.bos_token_id"), 4);
    EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.eot_token_id"), 7);
    EXPECT_EQ(file->require<std::string>("tokenizer.chat_template"), "{{ '<|start_header_id|>' }}");
    EXPECT_EQ(file->tensors().size(), 3u + 2 * 9 + 1);
    expect_same(folder, *file, "token_embd.weight", "model.transformer.wte.weight");
    expect_same(folder, *file, "output.weight", "model.transformer.ff_out.weight");
    expect_same(folder, *file, "output_norm.weight", "model.transformer.ln_f.weight");
    const std::string hf = "model.transformer.blocks.1.";
    expect_same(folder, *file, "blk.1.attn_v.weight", hf + "v_proj.weight");
    expect_same(folder, *file, "blk.1.attn_output.weight", hf + "attn_out.weight");
    expect_same(folder, *file, "blk.1.ffn_gate.weight", hf + "ff_proj.weight");
    expect_same(folder, *file, "blk.1.ffn_up.weight", hf + "up_proj.weight");
    expect_same(folder, *file, "blk.1.ffn_down.weight", hf + "ff_out.weight");
    expect_same(folder, *file, "blk.1.ffn_norm.weight", hf + "ff_norm.weight");
    EXPECT_EQ(floats(*file, "blk.1.attn_q.weight"), interleaved(folder.tensors.at(hf + "q_proj.weight"), 4));
    EXPECT_EQ(floats(*file, "blk.1.attn_k.weight"), interleaved(folder.tensors.at(hf + "k_proj.weight"), 4));
    EXPECT_EQ(floats(*file, "blk.0.attn_q.bias"),
              interleaved(folder.tensors.at("model.transformer.blocks.0.q_proj.bias"), 4));
  }
}

TEST(ConvertFamilies, LladaTiedHeadIsLeftOut) {
  FakeFolder folder("llada-tied");
  fill_llada(folder).config["weight_tying"] = true;
  folder.write();
  EXPECT_EQ(folder.converted()->find("output.weight"), nullptr);
}

TEST(ConvertFamilies, LladaMaskByName) {
  FakeFolder folder("llada-mask");
  fill_llada(folder).config.erase("mask_token_id");
  folder.write();
  EXPECT_EQ(folder.converted()->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 6);
}

TEST(ConvertFamilies, StoredTypesOfTheCheckpoint) {
  for (const char* dtype : {"F16", "BF16"}) {
    FakeFolder folder("dtype");
    fill_llada(folder);
    for (auto& [name, tensor] : folder.tensors) tensor.dtype = dtype;
    folder.write();
    expect_same(folder, *folder.converted(), "blk.0.attn_v.weight", "model.transformer.blocks.0.v_proj.weight");
    const auto file = folder.converted(GGML_TYPE_BF16);
    EXPECT_EQ(file->find("token_embd.weight")->type, GGML_TYPE_BF16);
    EXPECT_EQ(file->find("output_norm.weight")->type, GGML_TYPE_F32);
  }
}

// ---- Dream and the process reward ----

TEST(ConvertFamilies, Dream) {
  FakeFolder folder("dream");
  fill_dream(folder).write(2);
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::string>("general.architecture"), "dream");
  EXPECT_EQ(file->require<std::int64_t>("dream.attention.head_count_kv"), 2);
  EXPECT_EQ(file->require<double>("dream.rope.freq_base"), 1e6);
  EXPECT_EQ(file->require<double>("dream.attention.layer_norm_rms_epsilon"), static_cast<double>(1e-6f));
  EXPECT_TRUE(file->require<bool>("diffusion.shift_logits"));
  EXPECT_FALSE(file->require<bool>("dream.attention.causal"));
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 5);
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.pre"), "qwen2");
  EXPECT_TRUE(file->require<bool>("tokenizer.ggml.normalizer.nfc"));  // as its Python code has it
  EXPECT_FALSE(file->require<bool>("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(file->tensors().size(), 3u + 2 * 12);
  for (const auto& [to, from] : {std::pair{"attn_q.weight", "self_attn.q_proj.weight"},
                                 {"attn_q.bias", "self_attn.q_proj.bias"},
                                 {"attn_k.weight", "self_attn.k_proj.weight"},
                                 {"attn_output.weight", "self_attn.o_proj.weight"},
                                 {"attn_norm.weight", "input_layernorm.weight"},
                                 {"ffn_norm.weight", "post_attention_layernorm.weight"},
                                 {"ffn_down.weight", "mlp.down_proj.weight"}})
    expect_same(folder, *file, std::string("blk.1.") + to, std::string("model.layers.1.") + from);
  expect_same(folder, *file, "output.weight", "lm_head.weight");
}

TEST(ConvertFamilies, RopeBaseWhereNewerFilesKeepIt) {
  FakeFolder folder("rope-parameters");
  fill_dream(folder).config.erase("rope_theta");
  folder.config["rope_parameters"] = {{"rope_theta", 1e6}, {"rope_type", "default"}};
  folder.write();
  EXPECT_EQ(folder.converted()->require<double>("dream.rope.freq_base"), 1e6);
}

TEST(ConvertFamilies, Qwen2ProcessReward) {
  FakeFolder folder("prm");
  fill_qwen2_prm(folder).write();
  const auto file = folder.converted(GGML_TYPE_F16);
  EXPECT_EQ(file->require<std::string>("general.architecture"), "qwen2");
  EXPECT_EQ(file->require<std::int64_t>("reward.step_token_id"), 5);
  EXPECT_EQ(file->get<bool>("qwen2.attention.causal"), std::nullopt);
  EXPECT_EQ(file->find("output.weight"), nullptr);
  EXPECT_EQ(file->find("cls.weight")->type, GGML_TYPE_F16);
  expect_same(folder, *file, "cls.bias", "score.0.bias");
  expect_same(folder, *file, "cls.output.weight", "score.2.weight");  // two rows: f32 costs nothing
  expect_same(folder, *file, "cls.output.bias", "score.2.bias");
}

// ---- MDLM ----

using Numbers = std::vector<double>;

Numbers linear(const FakeFolder& folder, const std::string& name, const Numbers& x) {
  const FakeTensor& weight = folder.tensors.at(name + ".weight");
  const FakeTensor& bias = folder.tensors.at(name + ".bias");
  Numbers y;
  for (std::size_t o = 0; o < bias.values.size(); ++o) {
    double sum = static_cast<double>(bias.values[o]);
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(weight.values[o * x.size() + i]) * x[i];
    y.push_back(sum);
  }
  return y;
}

Numbers silu(Numbers x) {
  for (double& v : x) v *= 1 / (1 + std::exp(-v));
  return x;
}

std::vector<float> product(const FakeTensor& tensor, const Numbers& per_row, double plus = 0) {
  std::vector<float> out;
  const std::size_t columns = tensor.values.size() / per_row.size();
  for (std::size_t i = 0; i < tensor.values.size(); ++i)
    out.push_back(static_cast<float>(static_cast<double>(tensor.values[i]) * (plus + per_row[i / columns])));
  return out;
}

Numbers chunk(const Numbers& all, int i) { return {all.begin() + 8 * i, all.begin() + 8 * (i + 1)}; }

std::vector<float> as_floats(const Numbers& x) {
  std::vector<float> out;
  for (const double v : x) out.push_back(static_cast<float>(v));
  return out;
}

TEST(ConvertFamilies, Mdlm) {
  FakeFolder folder("mdlm");
  fill_mdlm(folder).write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::int64_t>("mdlm.feed_forward_length"), 32);
  EXPECT_EQ(file->require<std::int64_t>("mdlm.context_length"), 32);
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 11);
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.pre"), "gpt-2");
  EXPECT_EQ(file->require<std::vector<std::string>>("tokenizer.ggml.tokens")[11], "<|mask|>");
  EXPECT_EQ(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type")[11], 3);
  EXPECT_TRUE(file->require<bool>("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.bos_token_id"), 3);  // <|endoftext|>
  EXPECT_EQ(file->tensors().size(), 5u + 2 * 10);

  const Numbers at_zero = {1, 1, 1, 1, 1, 0, 0, 0, 0, 0};  // cosines and sines of 0
  const Numbers c =
      silu(linear(folder, "backbone.sigma_map.mlp.2", silu(linear(folder, "backbone.sigma_map.mlp.0", at_zero))));
  const auto close = [](const std::vector<float>& want) { return Pointwise(FloatNear(1e-6f), want); };
  for (int i = 0; i < 2; ++i) {
    const std::string hf = "backbone.blocks." + std::to_string(i) + ".", blk = "blk." + std::to_string(i) + ".";
    const Numbers all = linear(folder, hf + "adaLN_modulation", c);
    const auto& t = folder.tensors;
    EXPECT_THAT(floats(*file, blk + "attn_norm.bias"), close(as_floats(chunk(all, 0))));
    EXPECT_THAT(floats(*file, blk + "attn_norm.weight"), close(product(t.at(hf + "norm1.weight"), chunk(all, 1), 1)));
    EXPECT_THAT(floats(*file, blk + "attn_output.weight"), close(product(t.at(hf + "attn_out.weight"), chunk(all, 2))));
    EXPECT_THAT(floats(*file, blk + "ffn_norm.bias"), close(as_floats(chunk(all, 3))));
    EXPECT_THAT(floats(*file, blk + "ffn_norm.weight"), close(product(t.at(hf + "norm2.weight"), chunk(all, 4), 1)));
    EXPECT_THAT(floats(*file, blk + "ffn_down.weight"), close(product(t.at(hf + "mlp.2.weight"), chunk(all, 5))));
    EXPECT_THAT(floats(*file, blk + "ffn_down.bias"), close(product(t.at(hf + "mlp.2.bias"), chunk(all, 5))));
    expect_same(folder, *file, blk + "attn_qkv.weight", hf + "attn_qkv.weight");
    expect_same(folder, *file, blk + "ffn_up.bias", hf + "mlp.0.bias");
  }
  const Numbers last = linear(folder, "backbone.output_layer.adaLN_modulation", c);
  EXPECT_THAT(floats(*file, "output_norm.bias"), close(as_floats(chunk(last, 0))));
  EXPECT_THAT(floats(*file, "output_norm.weight"),
              close(product(folder.tensors.at("backbone.output_layer.norm_final.weight"), chunk(last, 1), 1)));
  expect_same(folder, *file, "output.bias", "backbone.output_layer.linear.bias");
  expect_same(folder, *file, "token_embd.weight", "backbone.vocab_embed.embedding");
}

// ---- BERT and RoBERTa ----

TEST(ConvertFamilies, BertTrunk) {
  FakeFolder folder("bert");
  fill_bert(folder, FakeHead::none).write();
  const auto file = folder.converted(GGML_TYPE_F16);
  EXPECT_EQ(file->require<std::int64_t>("bert.context_length"), 16);
  EXPECT_EQ(file->require<std::string>("bert.activation"), "gelu_erf");
  EXPECT_EQ(file->tensors().size(), 5u + 2 * 16);
  EXPECT_EQ(file->find("cls.weight"), nullptr);
  EXPECT_EQ(file->find("token_embd.weight")->type, GGML_TYPE_F16);
  expect_same(folder, *file, "position_embd.weight", "embeddings.position_embeddings.weight");
  expect_same(folder, *file, "token_types.weight", "embeddings.token_type_embeddings.weight");
  expect_same(folder, *file, "blk.1.layer_output_norm.bias", "encoder.layer.1.output.LayerNorm.bias");
}

TEST(ConvertFamilies, BertClassifier) {
  FakeFolder folder("bert-cls");
  fill_bert(folder, FakeHead::classifier).write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::int64_t>("bert.pooling_type"), 4);
  EXPECT_THAT(file->require<std::vector<std::string>>("bert.classifier.output_labels"),
              ElementsAre("LABEL_0", "LABEL_1"));
  expect_same(folder, *file, "cls.weight", "bert.pooler.dense.weight");
  expect_same(folder, *file, "cls.output.weight", "classifier.weight");
  expect_same(folder, *file, "cls.output.bias", "classifier.bias");
  expect_same(folder, *file, "blk.0.attn_q.bias", "bert.encoder.layer.0.attention.self.query.bias");
}

TEST(ConvertFamilies, BertMaskedLmWithOldSpelling) {
  FakeFolder folder("bert-mlm");
  fill_bert(folder, FakeHead::masked_lm).config["hidden_act"] = "gelu_new";
  folder.write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::string>("bert.activation"), "gelu_tanh");
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 4);
  expect_same(folder, *file, "mlm.norm.weight", "cls.predictions.transform.LayerNorm.gamma");
  expect_same(folder, *file, "mlm.norm.bias", "cls.predictions.transform.LayerNorm.beta");
  expect_same(folder, *file, "mlm.output.bias", "cls.predictions.bias");
  EXPECT_EQ(file->find("mlm.output.weight"), nullptr);  // tied
  EXPECT_EQ(file->find("cls.weight"), nullptr);
  EXPECT_EQ(file->get<std::int64_t>("bert.pooling_type"), std::nullopt);
}

TEST(ConvertFamilies, UntiedMaskedLm) {
  FakeFolder folder("bert-untied");
  fill_bert(folder, FakeHead::masked_lm).config["tie_word_embeddings"] = false;
  folder.write();
  expect_same(folder, *folder.converted(), "mlm.output.weight", "cls.predictions.decoder.weight");
}

TEST(ConvertFamilies, RobertaClassifier) {
  FakeFolder folder("roberta-cls");
  fill_roberta(folder, FakeHead::classifier).write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::string>("general.architecture"), "bert");
  EXPECT_EQ(file->require<std::int64_t>("bert.context_length"), 16);
  EXPECT_THAT(file->require<std::vector<std::string>>("bert.classifier.output_labels"),
              ElementsAre("negative", "neutral", "positive"));
  const std::vector<float>& all = folder.tensors.at("roberta.embeddings.position_embeddings.weight").values;
  EXPECT_THAT(floats(*file, "position_embd.weight"), Pointwise(Eq(), std::vector<float>(all.begin() + 16, all.end())));
  EXPECT_EQ(file->find("position_embd.weight")->shape[1], 16);
  expect_same(folder, *file, "cls.weight", "classifier.dense.weight");
  expect_same(folder, *file, "cls.output.weight", "classifier.out_proj.weight");
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.pre"), "roberta-bpe");
  EXPECT_TRUE(file->require<bool>("tokenizer.ggml.add_eos_token"));
  for (const auto& [role, id] :
       {std::pair{"bos", 0}, {"eos", 2}, {"unknown", 3}, {"seperator", 2}, {"padding", 1}, {"cls", 0}, {"mask", 7}})
    EXPECT_EQ(file->require<std::int64_t>(std::string("tokenizer.ggml.") + role + "_token_id"), id) << role;
}

TEST(ConvertFamilies, RobertaMaskedLm) {
  FakeFolder folder("roberta-mlm");
  fill_roberta(folder, FakeHead::masked_lm).write();
  const auto file = folder.converted();
  expect_same(folder, *file, "mlm.dense.weight", "lm_head.dense.weight");
  expect_same(folder, *file, "mlm.norm.weight", "lm_head.layer_norm.weight");
  expect_same(folder, *file, "mlm.output.bias", "lm_head.bias");
  folder.config["hidden_act"] = "gelu_new";  // its head would stay with gelu
  folder.write();
  EXPECT_THAT(complaint(folder), testing::HasSubstr("hidden_act is \"gelu_new\", supported for the masked-LM head"));
}

TEST(ConvertFamilies, HeadsLeftOverFromOtherTrainings) {
  FakeFolder folder("two-heads");
  fill_roberta(folder, FakeHead::masked_lm);
  fill_roberta(folder, FakeHead::classifier);  // the tensors of both, the config of the last
  folder.config["id2label"] = {{"0", 0}, {"1", "neutral"}, {"2", 1.5}};
  folder.write();
  auto file = folder.converted();
  EXPECT_THAT(file->require<std::vector<std::string>>("bert.classifier.output_labels"),
              ElementsAre("0", "neutral", "1.5"));
  EXPECT_NE(file->find("cls.output.weight"), nullptr);
  EXPECT_EQ(file->find("mlm.dense.weight"), nullptr);
  folder.config["architectures"] = {"RobertaForMaskedLM"};
  folder.write();
  file = folder.converted();
  EXPECT_EQ(file->find("cls.output.weight"), nullptr);
  EXPECT_NE(file->find("mlm.dense.weight"), nullptr);

  FakeFolder bert("two-bert-heads");
  fill_bert(bert, FakeHead::masked_lm);
  fill_bert(bert, FakeHead::classifier).write();
  EXPECT_NE(bert.converted()->find("cls.output.weight"), nullptr);
  bert.config["architectures"] = {"BertForPreTraining"};
  bert.write();
  EXPECT_NE(bert.converted()->find("mlm.dense.weight"), nullptr);
}

TEST(ConvertFamilies, AHeadWeDoNotKnowIsNoTrunk) {
  FakeFolder folder("token-classifier");
  fill_roberta(folder, FakeHead::none).add("classifier.weight", {2, 8});
  folder.write();
  EXPECT_THAT(complaint(folder), testing::HasSubstr("does not know: 'classifier.weight'"));
}

TEST(ConvertFamilies, NameAndActivation) {
  FakeFolder folder("gelu-python");
  fill_bert(folder, FakeHead::none).config["hidden_act"] = "gelu_python";
  folder.config["_name_or_path"] = "somebody/bert-base-uncased";
  folder.write();
  EXPECT_EQ(folder.converted()->require<std::string>("bert.activation"), "gelu_erf");
  EXPECT_EQ(folder.converted()->require<std::string>("general.name"), folder.path().filename().string());
  const std::filesystem::path hash = folder.path() / std::string(40, 'a');  // as in the cache of Hugging Face
  std::filesystem::create_directory(hash);
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"})
    std::filesystem::copy_file(folder.path() / name, hash / name);
  convert(hash, folder.out(), {});
  EXPECT_EQ(Gguf::open(folder.out())->require<std::string>("general.name"), "bert-base-uncased");
}

TEST(ConvertFamilies, DiffusionDefaultsOfOurOwnModels) {
  FakeFolder folder("diffusion-keys");
  fill_bert(folder, FakeHead::masked_lm).config["diffusion"] = {
      {"process", "mdlm"}, {"time_conditioning", false}, {"shift_logits", false}, {"steps", 64}, {"temperature", 0.5}};
  folder.write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::string>("diffusion.process"), "mdlm");
  EXPECT_EQ(file->require<std::int64_t>("diffusion.steps"), 64);
  EXPECT_EQ(file->require<double>("diffusion.temperature"), 0.5);
  EXPECT_FALSE(file->require<bool>("diffusion.shift_logits"));
}

}  // namespace
}  // namespace pgdlm
