// The vocabularies of well-known models, against token ids that llama.cpp publishes for them (made by the models' own
// tokenisers). X.gguf is the vocabulary, X.gguf.inp the texts, X.gguf.out a line of ids for each.
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "text/tokenizer.h"

namespace pgdlm {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_texts(const std::string& path) {
  const std::string all = read_all(path), separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  for (std::size_t at = 0, end = 0; (end = all.find(separator, at)) != std::string::npos; at = end + separator.size())
    texts.push_back(all.substr(at, end - at));
  return texts;
}

std::vector<std::vector<Token>> read_ids(const std::string& path) {
  std::istringstream lines(read_all(path));
  std::vector<std::vector<Token>> ids;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ids.emplace_back(std::istream_iterator<Token>(words), std::istream_iterator<Token>());
  }
  return ids;
}

class Vectors : public ::testing::TestWithParam<const char*> {};

TEST_P(Vectors, Agree) {
  const std::string path = std::string(PGDLM_VOCAB_DIR "/ggml-vocab-") + GetParam() + ".gguf";
  const auto tokenizer = Tokenizer::make(read_vocabulary(*Gguf::open(path)));
  const std::vector<std::string> texts = read_texts(path + ".inp");
  const std::vector<std::vector<Token>> ids = read_ids(path + ".out");
  ASSERT_EQ(texts.size(), ids.size());
  ASSERT_GE(texts.size(), 40u);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(tokenizer->encode(texts[i]), ids[i]) << texts[i];
    if (tokenizer->vocabulary().model == "gpt2") {
      EXPECT_EQ(tokenizer->decode(ids[i]), texts[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Vectors, ::testing::Values("gpt-2", "qwen2", "llama-bpe", "bert-bge"),
                         [](const auto& test) {
                           std::string name;
                           for (const char* c = test.param; *c != '\0'; ++c)
                             if (*c != '-') name.push_back(*c);
                           return name;
                         });

}  // namespace
}  // namespace pgdlm
