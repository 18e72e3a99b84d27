// Tokenizer files in all their forms become the same keys.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/fake_hf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Texts = std::vector<std::string>;

class ConvertTokenizer : public testing::Test {
 protected:
  ConvertTokenizer() { fill_llada(folder); }

  json& tokenizer() { return folder.json_files["tokenizer.json"]; }
  std::shared_ptr<const Gguf> converted() {
    folder.write();
    return folder.converted();
  }
  std::string refused() {
    folder.write();
    return complaint(folder);
  }
  // The name that a Split with this pattern gets, or the complaint.
  std::string pre_of(const std::string& pattern) {
    tokenizer()["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    const std::string refusal = refused();
    return refusal.empty() ? Gguf::open(folder.out())->require<std::string>("tokenizer.ggml.pre") : refusal;
  }

  FakeFolder folder{"tokenizer"};
};

TEST_F(ConvertTokenizer, TokenizerJson) {
  tokenizer()["added_tokens"].push_back({{"id", 9}, {"content", "<user>"}, {"special", false}});
  const auto file = converted();
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.pre"), "gpt-2");
  EXPECT_THAT(file->require<Texts>("tokenizer.ggml.tokens"),
              ElementsAre("a", "b", "ab", "\u0120", "<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>", "<|eot_id|>",
                          "[PAD8]", "<user>", "[PAD10]", "[PAD11]"));
  EXPECT_THAT(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type"),
              ElementsAre(1, 1, 1, 1, 3, 3, 3, 3, 5, 4, 5, 5));
  EXPECT_THAT(file->require<Texts>("tokenizer.ggml.merges"), ElementsAre("a b"));
}

TEST_F(ConvertTokenizer, MergesAsPairs) {
  tokenizer()["model"]["merges"] = json::array({json::array({"a", "b"})});
  EXPECT_THAT(converted()->require<Texts>("tokenizer.ggml.merges"), ElementsAre("a b"));
}

TEST_F(ConvertTokenizer, KnownPretokenizers) {
  EXPECT_EQ(
      pre_of(
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
      "qwen2");
  EXPECT_EQ(
      pre_of(
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
      "llama-bpe");
  EXPECT_EQ(
      pre_of(
          R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"),
      "bailingmoe");
  EXPECT_EQ(pre_of(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"), "gpt-2");
}

TEST_F(ConvertTokenizer, UnknownPretokenizersAreShown) {
  EXPECT_THAT(pre_of("[a-z]+"), AllOf(HasSubstr("pre_tokenizer is"), HasSubstr("[a-z]+")));
  tokenizer()["pre_tokenizer"] = {{"type", "Metaspace"}};
  EXPECT_THAT(refused(), HasSubstr("Metaspace"));
  tokenizer()["pre_tokenizer"] = nullptr;
  EXPECT_THAT(refused(), HasSubstr("pre_tokenizer is null"));
  EXPECT_EQ(pre_of(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"), "gpt-2");
  tokenizer()["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true;  // before every word
  EXPECT_THAT(refused(), HasSubstr("without add_prefix_space"));
}

TEST_F(ConvertTokenizer, OtherKindsAreRefused) {
  tokenizer()["model"]["type"] = "Unigram";
  EXPECT_THAT(refused(), HasSubstr("model.type is 'Unigram', supported: BPE, WordPiece"));
  tokenizer()["model"]["type"] = "BPE";
  tokenizer()["model"]["byte_fallback"] = true;
  EXPECT_THAT(refused(), HasSubstr("SentencePiece"));
  tokenizer()["model"]["byte_fallback"] = false;
  tokenizer()["normalizer"] = {{"type", "Lowercase"}};
  EXPECT_THAT(refused(), HasSubstr("normalizer is"));
  tokenizer()["normalizer"] = {{"type", "NFD"}};
  EXPECT_THAT(refused(), HasSubstr("supported for BPE: none, NFC"));
  tokenizer()["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Strip"}}}}};
  EXPECT_THAT(refused(), HasSubstr("normalizer is"));
}

TEST_F(ConvertTokenizer, Nfc) {
  EXPECT_EQ(converted()->get<bool>("tokenizer.ggml.normalizer.nfc"), std::nullopt);
  tokenizer()["normalizer"] = {{"type", "NFC"}};
  EXPECT_TRUE(converted()->require<bool>("tokenizer.ggml.normalizer.nfc"));
  tokenizer()["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array({{{"type", "NFC"}}})}};
  EXPECT_TRUE(converted()->require<bool>("tokenizer.ggml.normalizer.nfc"));
  tokenizer()["normalizer"]["normalizers"] = json::array();
  EXPECT_EQ(converted()->get<bool>("tokenizer.ggml.normalizer.nfc"), std::nullopt);
}

TEST_F(ConvertTokenizer, SpacePrefix) {
  EXPECT_EQ(converted()->get<bool>("tokenizer.ggml.add_space_prefix"), std::nullopt);
  tokenizer()["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_TRUE(converted()->require<bool>("tokenizer.ggml.add_space_prefix"));
}

TEST_F(ConvertTokenizer, IgnoredMerges) {
  tokenizer()["model"]["ignore_merges"] = true;
  EXPECT_THAT(refused(), HasSubstr("model.ignore_merges is true with the pre-tokeniser gpt-2"));
  EXPECT_EQ(
      pre_of(
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
      "llama-bpe");
}

TEST_F(ConvertTokenizer, TokensThatOnlyTheOtherFilesName) {
  folder.json_files["tokenizer_config.json"]["added_tokens_decoder"] = {
      {"7", {{"content", "<other>"}, {"special", true}}},    // tokenizer.json knows the id,
      {"8", {{"content", "<extra_0>"}, {"special", true}}},  // nothing of this
      {"9", {{"content", "ab"}, {"special", false}}}};       // and the text
  folder.json_files["added_tokens.json"] = {{"<tool>", 10}, {"<|eot_id|>", 11}, {"<extra_0>", 9}};
  const auto file = converted();
  EXPECT_THAT(file->require<Texts>("tokenizer.ggml.tokens"),
              ElementsAre("a", "b", "ab", "\u0120", "<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>", "<|eot_id|>",
                          "<extra_0>", "[PAD9]", "<tool>", "[PAD11]"));
  EXPECT_THAT(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type"),
              ElementsAre(1, 1, 1, 1, 3, 3, 3, 3, 3, 5, 3, 5));
}

TEST_F(ConvertTokenizer, FromAnotherFolder) {
  FakeFolder gpt2("gpt2"), mdlm("mdlm-without");
  fill_mdlm(gpt2).json_files["tokenizer_config.json"] = {{"add_bos_token", false}};
  gpt2.json_files["generation_config.json"] = {{"pad_token_id", 3}};  // of another model
  gpt2.write();
  fill_mdlm(mdlm).json_files.clear();
  mdlm.text_files.clear();
  mdlm.write();
  EXPECT_THAT(complaint(mdlm), HasSubstr("--tokenizer DIR"));
  convert(mdlm.path(), mdlm.out(), {.type = GGML_TYPE_F32, .tokenizer = gpt2.path()});
  const auto file = Gguf::open(mdlm.out());
  EXPECT_EQ(file->require<Texts>("tokenizer.ggml.tokens")[2], "ab");
  EXPECT_TRUE(file->require<bool>("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.bos_token_id"), 3);
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 11);
  EXPECT_EQ(file->get<std::int64_t>("tokenizer.ggml.padding_token_id"), std::nullopt);
  try {
    convert(mdlm.path(), mdlm.out(), {.tokenizer = gpt2.path() / "none"});
    FAIL() << "there is no such folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("tokenizer: "), HasSubstr("none' is not there or not a folder")));
  }
}

// MDLM's data loader registers [PAD], which takes the id of the mask.
TEST_F(ConvertTokenizer, AMaskIsNotPadding) {
  FakeFolder mdlm("mdlm-pad");
  fill_mdlm(mdlm).json_files["added_tokens.json"] = {{"[PAD]", 11}};
  mdlm.json_files["tokenizer_config.json"] = {{"pad_token", "[PAD]"}};
  mdlm.write();
  const auto file = mdlm.converted();
  EXPECT_EQ(file->require<Texts>("tokenizer.ggml.tokens")[11], "<|mask|>");
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 11);
  EXPECT_EQ(file->get<std::int64_t>("tokenizer.ggml.padding_token_id"), std::nullopt);
}

TEST_F(ConvertTokenizer, PartsThatDoNotFit) {
  json& model = tokenizer()["model"];
  model["merges"] = {"a c"};
  EXPECT_THAT(refused(), HasSubstr("merge 'a c' does not join two pieces to a third"));
  model["merges"] = {7};
  EXPECT_THAT(refused(), HasSubstr("model.merges: expected"));
  model.erase("merges");
  EXPECT_THAT(refused(), HasSubstr("model.merges is missing"));
  model["merges"] = json::array();
  model["vocab"]["c"] = 2;
  EXPECT_THAT(refused(), HasSubstr("have the same id 2"));
  model["vocab"]["c"] = -1;
  EXPECT_THAT(refused(), HasSubstr("token 'c': expected an id"));
  model["vocab"]["c"] = 12;
  EXPECT_THAT(refused(), HasSubstr("token 'c' has id 12, but the model has 12 embeddings"));
}

TEST_F(ConvertTokenizer, NoFiles) {
  FakeFolder mdlm("no-tokenizer");
  fill_mdlm(mdlm);
  mdlm.json_files.clear();
  mdlm.write();
  EXPECT_THAT(complaint(mdlm), AllOf(HasSubstr("has no tokenizer"), HasSubstr("https://huggingface.co/gpt2")));
  fill_mdlm(mdlm);
  mdlm.write();
  std::filesystem::remove(mdlm.path() / "merges.txt");
  EXPECT_THAT(complaint(mdlm), HasSubstr("there is no merges.txt beside it"));
  mdlm.scratch().file("merges.txt", "#version: 0.2\n");
  EXPECT_THAT(complaint(mdlm), HasSubstr("merges.txt: expected a merge per line, got none"));
}

TEST_F(ConvertTokenizer, ANumberThatMeansAnOrdinaryPieceIsNotSpecial) {
  folder.config["pad_token_id"] = 0;  // "a"
  const auto file = converted();
  EXPECT_EQ(file->get<std::int64_t>("tokenizer.ggml.padding_token_id"), std::nullopt);
  EXPECT_EQ(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type")[0], 1);
}

TEST_F(ConvertTokenizer, MaskOutOfRangeOrAbsent) {
  folder.config["mask_token_id"] = 12;
  EXPECT_THAT(refused(), HasSubstr("the mask token is 12, expected 0 to 11"));
  folder.config.erase("mask_token_id");
  tokenizer() = tiny_tokenizer({"<|startoftext|>", "<|endoftext|>"});
  EXPECT_THAT(refused(), AllOf(HasSubstr("no mask token"), HasSubstr("mask_token_id")));
}

TEST_F(ConvertTokenizer, ChatTemplates) {
  folder.json_files["tokenizer_config.json"]["chat_template"] =
      json::array({{{"name", "tool"}, {"template", "T"}}, {{"name", "default"}, {"template", "D"}}});
  EXPECT_EQ(converted()->require<std::string>("tokenizer.chat_template"), "D");
  folder.text_files["chat_template.jinja"] = "J";
  EXPECT_EQ(converted()->require<std::string>("tokenizer.chat_template"), "J");
}

TEST(ConvertWordPiece, VocabTxt) {
  FakeFolder folder("wordpiece");
  fill_bert(folder, FakeHead::none).json_files["tokenizer_config.json"] = {{"do_lower_case", false}};
  folder.write();
  const auto file = folder.converted();
  EXPECT_EQ(file->require<std::string>("tokenizer.ggml.model"), "bert");
  EXPECT_THAT(file->require<Texts>("tokenizer.ggml.tokens"),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\u2581word", "s", "\u2581.", "\u2581[PAD8]",
                          "\u2581[PAD9]", "\u2581[PAD10]", "\u2581[PAD11]"));
  EXPECT_THAT(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type"),
              ElementsAre(3, 3, 3, 3, 3, 1, 1, 1, 5, 5, 5, 5));
  EXPECT_FALSE(file->require<bool>("tokenizer.ggml.lowercase"));
  EXPECT_FALSE(file->require<bool>("tokenizer.ggml.normalizer.lowercase"));
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.cls_token_id"), 2);
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.seperator_token_id"), 3);
}

TEST(ConvertWordPiece, TokenizerJsonSaysTheSame) {
  FakeFolder folder("wordpiece-json");
  fill_bert(folder, FakeHead::none).json_files["tokenizer.json"] = {
      {"added_tokens", {{{"id", 0}, {"content", "[PAD]"}, {"special", true}}}},
      {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", false}}},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"model",
       {{"type", "WordPiece"},
        {"continuing_subword_prefix", "##"},
        {"vocab",
         {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"[MASK]", 4}, {"word", 5}, {"##s", 6}, {".", 7}}}}}};
  folder.write();
  const auto file = folder.converted();
  EXPECT_THAT(file->require<Texts>("tokenizer.ggml.tokens")[6], "s");
  EXPECT_TRUE(file->require<bool>("tokenizer.ggml.lowercase"));
  EXPECT_FALSE(file->require<bool>("tokenizer.ggml.normalizer.strip_accents"));
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.mask_token_id"), 4);
  EXPECT_EQ(file->require<std::int64_t>("tokenizer.ggml.bos_token_id"), 2);
}

}  // namespace
}  // namespace pgdlm
