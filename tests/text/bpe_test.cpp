#include <chrono>
#include <random>

#include <gmock/gmock.h>

#include "pgdlm/error.h"
#include "text/small_vocabulary.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using ::testing::ElementsAre;

// Tokens from 256 on, in this order.
const std::vector<std::pair<std::string, std::string>> kMerges = {{"l", "o"},       {"lo", "w"}, {"e", "r"},
                                                                  {" ", "low"},     {"a", "a"},  {"aa", "aa"},
                                                                  {"\xC3", "\xA4"}, {" ", " "},  {"1", "2"}};
constexpr Token kLow = 257, kEr = 258, kSpaceLow = 259, kAa = 260, kAaaa = 261, kUmlaut = 262;

std::shared_ptr<const Tokenizer> tokenizer(std::string pre = "gpt-2") {
  return Tokenizer::make(test::byte_vocabulary(std::move(pre), kMerges));
}

TEST(Bpe, MergesByRankAndFromTheLeft) {
  EXPECT_THAT(tokenizer()->encode("lower"), ElementsAre(kLow, kEr));
  EXPECT_THAT(tokenizer()->encode("low low"), ElementsAre(kLow, kSpaceLow));
  EXPECT_THAT(tokenizer()->encode("aaa"), ElementsAre(kAa, 'a'));
  EXPECT_THAT(tokenizer()->encode("aaaaaaa"), ElementsAre(kAaaa, kAa, 'a'));
  EXPECT_THAT(tokenizer()->encode("Ä ä"), ElementsAre(0xC3, 0x84, ' ', kUmlaut));
  EXPECT_THAT(tokenizer()->encode(""), ElementsAre());
}

TEST(Bpe, MergesStayInsideWords) {
  // "12" is a piece, but qwen2 cuts between digits.
  EXPECT_EQ(tokenizer("gpt-2")->encode("12").size(), 1u);
  EXPECT_EQ(tokenizer("qwen2")->encode("12").size(), 2u);
  EXPECT_EQ(tokenizer("llama-bpe")->encode("12").size(), 1u);
}

TEST(Bpe, LlamaTakesAWholeWordWhateverTheMerges) {
  Vocabulary v = test::byte_vocabulary("llama-bpe", kMerges);
  v.pieces.push_back("xyz");
  v.types.push_back(TokenType::normal);
  const Token xyz = static_cast<Token>(v.pieces.size()) - 1;
  EXPECT_THAT(Tokenizer::make(v)->encode("xyz"), ElementsAre(xyz));
  v.pre = "qwen2";
  EXPECT_THAT(Tokenizer::make(v)->encode("xyz"), ElementsAre('x', 'y', 'z'));
}

TEST(Bpe, OneLongWordIsNotQuadratic) {
  const std::string word(1 << 20, 'a');
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Token> tokens = tokenizer()->encode(word);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(tokens, std::vector<Token>(1 << 18, kAaaa));
  EXPECT_LT(taken.count(), 30);  // about 0.3 s; quadratic would be hours
}

TEST(Bpe, SpecialTokensOnlyWhenAsked) {
  const auto t = tokenizer();
  const Token mask = t->vocabulary().mask, tool = t->special("<tool>");
  EXPECT_EQ(t->encode("<mask>").size(), 6u);
  EXPECT_THAT(t->encode("<mask>", {.parse_special = true}), ElementsAre(mask));
  EXPECT_THAT(t->encode("<tool>"), ElementsAre(tool));  // user-defined: always
  EXPECT_THAT(t->encode("a<mask><<tool>low", {.parse_special = true}), ElementsAre('a', mask, '<', tool, kLow));
  EXPECT_EQ(t->special("<mask>"), mask);
  EXPECT_EQ(t->special("low"), -1);
}

TEST(Bpe, TheLongestSpecialTokenWins) {
  Vocabulary v = test::byte_vocabulary("gpt-2", {});
  v.pieces.insert(v.pieces.end(), {"<a>", "<a><b>", "<b><c>"});
  v.types.insert(v.types.end(), 3, TokenType::control);
  const Token last = static_cast<Token>(v.pieces.size()) - 1;
  const auto t = Tokenizer::make(v);
  EXPECT_THAT(t->encode("<a><b><c>", {.parse_special = true}), ElementsAre(last - 1, '<', 'c', '>'));
  EXPECT_THAT(t->encode("<a>x<b><c>", {.parse_special = true}), ElementsAre(last - 2, 'x', last));
}

TEST(Bpe, AddsWhatTheModelExpects) {
  Vocabulary v = test::byte_vocabulary("gpt-2", {});
  EXPECT_THAT(Tokenizer::make(v)->encode("a", {.add_special = true}), ElementsAre('a'));
  v.add_bos = true;
  EXPECT_THAT(Tokenizer::make(v)->encode("a", {.add_special = true}), ElementsAre(v.bos, 'a'));
  v.add_eos = true;
  EXPECT_THAT(Tokenizer::make(v)->encode("a", {.add_special = true}), ElementsAre(v.bos, 'a', v.eos));
  EXPECT_THAT(Tokenizer::make(v)->encode("", {.add_special = true}), ElementsAre(v.bos, v.eos));
  EXPECT_THAT(Tokenizer::make(v)->encode("a"), ElementsAre('a'));
}

TEST(Bpe, TextIsComposedWhereTheModelWantsIt) {
  const std::string apart = "cafe\u0301", together = "caf\u00e9";
  Vocabulary v = test::byte_vocabulary("gpt-2", kMerges);
  EXPECT_EQ(Tokenizer::make(v)->decode(Tokenizer::make(v)->encode(apart)), apart);
  v.pieces.push_back("<e\u0301>");
  v.types.push_back(TokenType::control);
  v.nfc = true;
  const auto t = Tokenizer::make(v);
  EXPECT_EQ(t->encode(apart), t->encode(together));
  EXPECT_EQ(t->decode(t->encode(apart)), together);
  EXPECT_THAT(t->encode("a\u0308"), ElementsAre(kUmlaut));
  EXPECT_EQ(t->decode(t->encode("\u1112\u1161\u11ab \u212b")), "\ud55c \u00c5");
  // Of marks in the wrong order, the one that composes may stand last.
  EXPECT_EQ(t->decode(t->encode("a\u0301\u0323")), "\u1ea1\u0301");
  // Stray bytes stay and are no letters to put marks on; names of special tokens are as the vocabulary spells them.
  EXPECT_EQ(t->decode(t->encode("e\xFF\u0301e\u0301\xC3")), "e\xFF\u0301\u00e9\xC3");
  const std::vector<Token> marked = t->encode("e\u0301<e\u0301>", {.parse_special = true});
  EXPECT_THAT(marked, ElementsAre(0xC3, 0xA9, t->size() - 1));
}

TEST(Bpe, ManyMarksAreNotQuadratic) {
  Vocabulary v = test::byte_vocabulary("gpt-2", {});
  v.nfc = true;
  std::string text = "a";
  for (int i = 0; i < 1 << 17; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Tokenizer::make(v)->encode(text).size(), text.size());  // U+1EA1 is as long as a and its mark
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 30);
}

TEST(Bpe, ASpaceBeforeEachStretchOfText) {
  Vocabulary v = test::byte_vocabulary("gpt-2", kMerges);
  v.add_space_prefix = true;
  const auto t = Tokenizer::make(v);
  EXPECT_THAT(t->encode("low"), ElementsAre(kSpaceLow));
  EXPECT_THAT(t->encode(" low"), ElementsAre(kSpaceLow));
  EXPECT_THAT(t->encode("\n"), ElementsAre(' ', '\n'));
  EXPECT_THAT(t->encode(""), ElementsAre());
  EXPECT_THAT(t->encode("low<mask><mask>low", {.parse_special = true}),
              ElementsAre(kSpaceLow, v.mask, v.mask, kSpaceLow));
}

TEST(Bpe, RobertasMaskSwallowsTheBlanksBeforeIt) {
  Vocabulary v = test::byte_vocabulary("roberta-bpe", {});
  EXPECT_THAT(Tokenizer::make(v)->encode("a  <mask> b", {.parse_special = true}), ElementsAre('a', v.mask, ' ', 'b'));
  v.pre = "gpt-2";
  EXPECT_THAT(Tokenizer::make(v)->encode("a <mask>", {.parse_special = true}), ElementsAre('a', ' ', v.mask));
}

TEST(Bpe, PiecesAndTheirDisplay) {
  const auto t = tokenizer();
  EXPECT_EQ(t->piece(kSpaceLow), " low");
  EXPECT_EQ(t->display(kSpaceLow), " low");
  EXPECT_EQ(t->piece(kUmlaut), "ä");
  EXPECT_EQ(t->display('\n'), "\\n");
  EXPECT_EQ(t->display('\\'), "\\\\");
  EXPECT_EQ(t->display(0xC3), "\\xC3");
  EXPECT_EQ(t->display(0x07), "\\x07");
  EXPECT_EQ(t->display(t->vocabulary().mask), "<mask>");
  EXPECT_TRUE(t->is_control(t->vocabulary().mask));
  EXPECT_FALSE(t->is_control(t->special("<tool>")));
}

TEST(Bpe, DecodingLeavesOutControlTokensUnlessKept) {
  const auto t = tokenizer();
  const std::vector<Token> tokens = {t->vocabulary().bos, kLow, t->vocabulary().mask, kEr, t->special("<tool>")};
  EXPECT_EQ(t->decode(tokens), "lower<tool>");
  EXPECT_EQ(t->decode(tokens, true), "<bos>low<mask>er<tool>");
}

TEST(Bpe, TokensBeyondTheVocabularyAreRefused) {
  const auto t = tokenizer();
  EXPECT_THROW(t->decode(std::vector<Token>{t->size()}), Error);
  EXPECT_THROW(t->piece(-1), Error);
}

TEST(Bpe, AByteWithoutATokenIsUnknownOrRefused) {
  Vocabulary v = test::byte_vocabulary("gpt-2", {});
  v.pieces['q'] = "<gone>";
  v.types['q'] = TokenType::unused;
  try {
    Tokenizer::make(v)->encode("aq");
    FAIL() << "the byte was lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_request);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("0x71"));
  }
  v.unk = v.eos;
  EXPECT_THAT(Tokenizer::make(v)->encode("aq"), ElementsAre('a', v.eos));
}

// ---- encode, then decode, gives back any bytes ----

class RoundTrip : public ::testing::TestWithParam<const char*> {};

std::string random_bytes(std::mt19937& random, std::size_t length) {
  std::uniform_int_distribution<int> byte(0, 255);
  std::string text;
  while (text.size() < length) text.push_back(static_cast<char>(byte(random)));
  return text;
}

std::string random_text(std::mt19937& random, std::size_t length) {
  std::uniform_int_distribution<char32_t> any(0, 0x10FFFF), latin(0, 0x2FF);
  std::string text;
  while (text.size() < length) {
    const char32_t code = random() % 4 == 0 ? any(random) : latin(random);
    if (code < 0xD800 || code > 0xDFFF) append_utf8(code, text);
  }
  return text;
}

std::string random_blanks(std::mt19937& random, std::size_t length) {
  static const std::vector<std::string> parts = {" ", "  ",   "\n",     "\r\n",   "\t", "\u00A0", "\u3000",
                                                 "a", "aa",   "low",    "'s",     "'",  "12",     ".",
                                                 "ä", "\xC3", "<mask>", "<tool>", "é"};
  std::string text;
  while (text.size() < length) text += parts[random() % parts.size()];
  return text;
}

TEST_P(RoundTrip, OfTenThousandStrings) {
  const auto t = tokenizer(GetParam());
  std::mt19937 random(20240607);
  for (int round = 0; round < 10000; ++round) {
    const std::size_t length = random() % 60;
    const std::string text = round % 3 == 0   ? random_bytes(random, length)
                             : round % 3 == 1 ? random_text(random, length)
                                              : random_blanks(random, length);
    ASSERT_EQ(t->decode(t->encode(text)), text);
    ASSERT_EQ(t->decode(t->encode(text, {.parse_special = true}), true), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RoundTrip, ::testing::Values("gpt-2", "qwen2", "llama-bpe"));

}  // namespace
}  // namespace pgdlm
