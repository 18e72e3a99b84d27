// Our tokenisers against libllama's, on the vocabularies of real models that come with it: its own test lines, and
// strings of random characters from the corners of Unicode where the rules for splitting differ.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "parity/judge.h"
#include "text/tokenizer.h"

namespace pgdlm::parity {
namespace {

class Vocabularies : public testing::TestWithParam<const char*> {
 protected:
  Vocabularies() : judge(file(), Ask::vocabulary), ours(Tokenizer::make(read_vocabulary(*Gguf::open(file())))) {}

  static std::string file() { return std::string(PGDLM_VOCAB_DIR) + "/ggml-vocab-" + GetParam() + ".gguf"; }

  // Whether both agree; at most a few disagreements are shown.
  void compare(const std::string& text, bool add_special, bool parse_special) {
    ++compared;
    const auto expected = judge.tokenize(text, add_special, parse_special);
    const auto got = ours->encode(text, {.add_special = add_special, .parse_special = parse_special});
    if (got == expected) return;
    if (++wrong <= 5) EXPECT_EQ(got, expected) << testing::PrintToString(text);
  }

  Judge judge;
  std::shared_ptr<const Tokenizer> ours;
  int compared = 0, wrong = 0;
};

std::string utf8(char32_t c) {
  std::string s;
  if (c < 0x80) {
    s += static_cast<char>(c);
  } else if (c < 0x800) {
    s += {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    s += {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
          static_cast<char>(0x80 | (c & 0x3F))};
  } else {
    s += {static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 0x3F)),
          static_cast<char>(0x80 | ((c >> 6) & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
  }
  return s;
}

TEST_P(Vocabularies, AgreeOnLinesOfText) {
  const std::string path = std::string(PGDLM_SOURCE_DIR);
  for (const char* name : {"/README.md", "/docs/theory.md", "/CONTRIBUTING.md", "/src/smc/sweep.cpp", "/LICENSE"}) {
    std::ifstream in(path + name);
    ASSERT_TRUE(in) << name;
    for (std::string line; std::getline(in, line);) compare(line, true, false);
    in.clear();
    in.seekg(0);
    compare({std::istreambuf_iterator<char>(in), {}}, false, false);
  }
  EXPECT_EQ(wrong, 0) << "of " << compared;
}

// libllama's own cases: FILE.inp holds texts, FILE.out the tokens of each as Hugging Face made them.
TEST_P(Vocabularies, AgreeOnLlamasCases) {
  std::ifstream in(file() + ".inp"), out(file() + ".out");
  std::stringstream texts;
  texts << in.rdbuf();
  const std::string mark = "\n__ggml_vocab_test__\n", all = texts.str();
  int cases = 0;
  for (std::size_t first = 0; first < all.size();) {
    const std::size_t last = all.find(mark, first);
    const std::string text = all.substr(first, last - first);
    first = last == std::string::npos ? all.size() : last + mark.size();
    std::string line;
    ASSERT_TRUE(std::getline(out, line));
    std::istringstream numbers(line);
    const std::vector<Token> expected{std::istream_iterator<Token>(numbers), {}};
    EXPECT_EQ(ours->encode(text), expected) << testing::PrintToString(text);
    compare(text, true, true);
    ++cases;
  }
  EXPECT_GT(cases, 30);
  EXPECT_EQ(wrong, 0) << "of " << compared;
}

TEST_P(Vocabularies, AgreeOnRandomCharacters) {
  constexpr std::array<char32_t, 44> kCorners = {
      U' ',  U' ',  U' ',  U'\n', U'\r',  U'\t',  U'a',   U'S',   U't',   U'L',   U'\'',  U'9',   U'0',    U'1',  U'.',
      U'-',  U'(',  U'_',  U'~',  0xA0,   0xB2,   0xBD,   0xE9,   0xC4,   0xDF,   0x130,  0x301,  0x3B1,   0x416, 0x5D0,
      0x627, 0x661, 0x905, 0xE01, 0x1E9E, 0x2003, 0x200D, 0x2028, 0x20AC, 0x2160, 0x3000, 0x4E2D, 0x1F600, 0xAC00};
  // BERT takes Hangul syllables apart, as Unicode says; libllama keeps the first letter only.
  const std::size_t count = ours->vocabulary().model == "bert" ? kCorners.size() - 1 : kCorners.size();
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (unsigned n = random() % 24; n > 0; --n) text += utf8(kCorners[random() % count]);
    compare(text, false, false);
  }
  EXPECT_EQ(wrong, 0) << "of " << compared;
}

INSTANTIATE_TEST_SUITE_P(Libllama, Vocabularies, testing::Values("gpt-2", "qwen2", "llama-bpe", "bert-bge"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace pgdlm::parity
