// Reading a vocabulary from a GGUF file: what a sound file gives, and what each kind of broken one is told.
#include "text/vocabulary.h"

#include <filesystem>
#include <functional>
#include <map>

#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gguf/writer.h"
#include "pgdlm/error.h"
#include "text/tokenizer.h"

namespace pgdlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Keys = std::map<std::string, GgufValue>;
using Strings = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

Keys bpe_keys() {
  return {{"tokenizer.ggml.model", std::string("gpt2")},
          {"tokenizer.ggml.pre", std::string("gpt-2")},
          {"tokenizer.ggml.tokens", Strings{"a", "b", "ab", "abb", "<s>", "</s>", "<|mask|>", "<|im_end|>"}},
          {"tokenizer.ggml.token_type", Numbers{1, 1, 1, 1, 3, 3, 3, 1}},
          {"tokenizer.ggml.merges", Strings{"a b", "ab b"}},
          {"tokenizer.ggml.bos_token_id", std::int64_t{4}},
          {"tokenizer.ggml.eos_token_id", std::int64_t{5}},
          {"tokenizer.chat_template", std::string("{{ x }}")}};
}

Keys bert_keys() {
  return {{"tokenizer.ggml.model", std::string("bert")},
          {"tokenizer.ggml.tokens", Strings{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\u2581the", "s"}},
          {"tokenizer.ggml.token_type", Numbers{3, 3, 3, 3, 3, 1, 1}}};
}

class VocabularyFile : public ::testing::Test {
 protected:
  VocabularyFile()
      : path(std::filesystem::temp_directory_path() / fmt::format("pgdlm-vocabulary-{}.gguf", ::getpid())) {}
  ~VocabularyFile() override { std::filesystem::remove(path); }

  Vocabulary read(const Keys& keys) {
    GgufWriter writer(path);
    for (const auto& [key, value] : keys) writer.set(key, value);
    writer.commit();
    return read_vocabulary(*Gguf::open(path));
  }

  // What the file is refused with; it names the file.
  std::string complaint(const Keys& keys, ErrorCode code = ErrorCode::bad_model) {
    try {
      read(keys);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      return error.what();
    }
    return "nothing";
  }

  std::filesystem::path path;
};

Keys with(Keys keys, const std::string& key, GgufValue value) {
  keys["tokenizer.ggml." + key] = std::move(value);
  return keys;
}

Keys without(Keys keys, const std::string& key) {
  keys.erase("tokenizer.ggml." + key);
  return keys;
}

TEST_F(VocabularyFile, Bpe) {
  const Vocabulary v = read(bpe_keys());
  EXPECT_EQ(v.source, path.string());
  EXPECT_EQ(v.model, "gpt2");
  EXPECT_EQ(v.pre, "gpt-2");
  EXPECT_EQ(v.pieces.size(), 8u);
  EXPECT_EQ(v.types[4], TokenType::control);
  EXPECT_THAT(v.merges, ElementsAre(Merge{0, 1, 2}, Merge{2, 1, 3}));
  EXPECT_EQ(v.bos, 4);
  EXPECT_EQ(v.eos, 5);
  EXPECT_EQ(v.unk, -1);
  EXPECT_EQ(v.mask, 6);  // by its name
  EXPECT_EQ(v.eot, -1);  // <|im_end|> is here, but as a piece of text
  EXPECT_FALSE(v.add_bos || v.add_eos);
  EXPECT_EQ(v.chat_template, "{{ x }}");
  EXPECT_THAT(Tokenizer::make(v)->encode("abb"), ElementsAre(3));
}

TEST_F(VocabularyFile, AddedTokensFollowTheFileThenThePreTokenizer) {
  EXPECT_TRUE(read(with(bpe_keys(), "add_bos_token", true)).add_bos);
  const Vocabulary roberta = read(with(bpe_keys(), "pre", std::string("roberta-bpe")));
  EXPECT_TRUE(roberta.add_bos && roberta.add_eos);
  EXPECT_TRUE(read(with(bpe_keys(), "pre", std::string("llama-bpe"))).add_bos);
  EXPECT_FALSE(read(with(with(bpe_keys(), "pre", std::string("llama-bpe")), "add_bos_token", false)).add_bos);
}

TEST_F(VocabularyFile, HowTextIsPrepared) {
  EXPECT_FALSE(read(bpe_keys()).nfc || read(bpe_keys()).add_space_prefix);
  EXPECT_TRUE(read(with(bpe_keys(), "normalizer.nfc", true)).nfc);
  EXPECT_TRUE(read(with(bpe_keys(), "add_space_prefix", true)).add_space_prefix);
  EXPECT_FALSE(read(with(bpe_keys(), "add_space_prefix", false)).add_space_prefix);
}

TEST_F(VocabularyFile, Bert) {
  const Vocabulary v = read(bert_keys());
  EXPECT_THAT((std::vector<Token>{v.pad, v.unk, v.cls, v.sep, v.mask}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(v.lowercase && v.strip_accents);
  EXPECT_THAT(Tokenizer::make(v)->encode("Thes", {.add_special = true}), ElementsAre(2, 5, 6, 3));
  EXPECT_FALSE(read(with(bert_keys(), "lowercase", false)).lowercase);
  EXPECT_FALSE(read(with(bert_keys(), "normalizer.lowercase", false)).strip_accents);
}

TEST_F(VocabularyFile, KindsWeDoNotHave) {
  EXPECT_THAT(complaint(with(bpe_keys(), "model", std::string("llama")), ErrorCode::unsupported),
              HasSubstr("'llama', supported: gpt2, bert"));
  EXPECT_THAT(complaint(with(bpe_keys(), "pre", std::string("default")), ErrorCode::unsupported),
              HasSubstr("'default', supported: gpt-2"));
  complaint(without(bpe_keys(), "pre"), ErrorCode::unsupported);
}

TEST_F(VocabularyFile, MissingKeys) {
  for (const char* key : {"model", "tokens", "merges"})
    EXPECT_THAT(complaint(without(bpe_keys(), key)), HasSubstr(std::string("tokenizer.ggml.") + key));
  EXPECT_THAT(complaint(with(without(bpe_keys(), "bos_token_id"), "add_bos_token", true)), HasSubstr("bos_token_id"));
  EXPECT_THAT(complaint(with(with(bert_keys(), "tokens", Strings{"a"}), "token_type", Numbers{1})),
              HasSubstr("cls_token_id"));
}

TEST_F(VocabularyFile, WrongLengthsAndNumbers) {
  EXPECT_THAT(complaint(with(bpe_keys(), "token_type", Numbers{1, 1})), HasSubstr("expected 8 entries"));
  EXPECT_THAT(complaint(with(bpe_keys(), "token_type", Numbers{1, 1, 1, 1, 3, 3, 3, 7})),
              HasSubstr("token_type[7]: expected 1 to 6, got 7"));
  EXPECT_THAT(complaint(with(bpe_keys(), "bos_token_id", std::int64_t{8})),
              HasSubstr("bos_token_id: expected 0 to 7, got 8"));
  EXPECT_THAT(complaint(with(bpe_keys(), "tokens", Strings{})), HasSubstr("tokenizer.ggml.tokens"));
}

TEST_F(VocabularyFile, DoublePieces) {
  EXPECT_THAT(complaint(with(bpe_keys(), "tokens", Strings{"a", "b", "ab", "abb", "<s>", "</s>", "<|mask|>", "ab"})),
              HasSubstr("got 'ab' at 2 and 7"));
}

TEST_F(VocabularyFile, MergesOfWhatIsNotThere) {
  EXPECT_THAT(complaint(with(bpe_keys(), "merges", Strings{"a b", "b c"})),
              HasSubstr("merges[1] is 'b c': 'c' is not"));
  EXPECT_THAT(complaint(with(bpe_keys(), "merges", Strings{"b a"})), HasSubstr("'ba' is not"));
  EXPECT_THAT(complaint(with(bpe_keys(), "merges", Strings{"ab"})), HasSubstr("expected two pieces"));
  EXPECT_THAT(complaint(with(bpe_keys(), "merges", Strings{""})), HasSubstr("expected two pieces"));
  EXPECT_THAT(complaint(with(bpe_keys(), "merges", Strings{"a "})), HasSubstr("expected two pieces"));
}

TEST(Vocabulary, MadeByHandIsCheckedToo) {
  Vocabulary v;
  v.model = "gpt2";
  v.pre = "gpt-2";
  EXPECT_THROW(Tokenizer::make(v), Error);  // no pieces
  v.pieces = {"a"};
  EXPECT_THROW(Tokenizer::make(v), Error);  // no types
  v.types = {TokenType::normal};
  EXPECT_NO_THROW(Tokenizer::make(v));
  v.eos = 1;
  EXPECT_THROW(Tokenizer::make(v), Error);
  v.eos = -1;
  v.merges = {{0, 0, 1}};
  EXPECT_THROW(Tokenizer::make(v), Error);
}

}  // namespace
}  // namespace pgdlm
