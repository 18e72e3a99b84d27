#include <gmock/gmock.h>

#include "text/small_vocabulary.h"
#include "text/tokenizer.h"

namespace pgdlm {
namespace {

using ::testing::ElementsAre;

constexpr Token kUnk = 1, kCls = 2, kSep = 3, kMask = 4;

const std::vector<std::string> kPieces = {"un",  "##aff",   "##able", "want", "##ed", "run", "##ning",
                                          ",",   "!",       "'",      "cafe", "我",   "想",  "a",
                                          "##a", "strasse", "Cafe",   "$",    "the"};

Token id(std::string_view piece) {
  for (std::size_t i = 0; i < kPieces.size(); ++i)
    if (kPieces[i] == piece) return static_cast<Token>(5 + i);
  return -1;
}

std::vector<Token> encode(std::string_view text) {
  return Tokenizer::make(test::bert_vocabulary(kPieces))->encode(text);
}

TEST(WordPiece, LongestPiecesFirst) {
  EXPECT_THAT(encode("unable, wanted running"),
              ElementsAre(id("un"), id("##able"), id(","), id("want"), id("##ed"), id("run"), id("##ning")));
}

TEST(WordPiece, AWordThatIsNotCoveredIsUnknown) {
  EXPECT_THAT(encode("unaffable unaffablez want"), ElementsAre(id("un"), id("##aff"), id("##able"), kUnk, id("want")));
  EXPECT_THAT(encode("able"), ElementsAre(kUnk));  // there is ##able, but it starts no word
}

TEST(WordPiece, BlanksAndControlCharacters) {
  EXPECT_THAT(encode(" \t\r\nwant\u00A0\u3000want\n"), ElementsAre(id("want"), id("want")));
  EXPECT_THAT(encode(std::string_view("wa\0n\x07t\u200B\uFEFF", 12)), ElementsAre(id("want")));
  EXPECT_THAT(encode("wa\u00ADnt\uFFFD"), ElementsAre(id("want")));
  EXPECT_THAT(encode("want\xFF"), ElementsAre(id("want")));  // broken bytes are U+FFFD, which vanishes
  EXPECT_THAT(encode(""), ElementsAre());
}

TEST(WordPiece, PunctuationAndChineseStandAlone) {
  EXPECT_THAT(encode("want,want!!"), ElementsAre(id("want"), id(","), id("want"), id("!"), id("!")));
  EXPECT_THAT(encode("a我想a"), ElementsAre(id("a"), id("我"), id("想"), id("a")));
  EXPECT_THAT(encode("$a'a"), ElementsAre(id("$"), id("a"), id("'"), id("a")));
}

TEST(WordPiece, LowerCaseAndAccents) {
  EXPECT_THAT(encode("CAFÉ Café cafe\u0301"), ElementsAre(id("cafe"), id("cafe"), id("cafe")));
  EXPECT_THAT(encode("THE"), ElementsAre(id("the")));
  Vocabulary cased = test::bert_vocabulary(kPieces);
  cased.lowercase = cased.strip_accents = false;
  const auto t = Tokenizer::make(cased);
  EXPECT_THAT(t->encode("Cafe cafe Café"), ElementsAre(id("Cafe"), id("cafe"), kUnk));
}

TEST(WordPiece, AWordOfMoreThanAHundredCharactersIsUnknown) {
  EXPECT_EQ(encode(std::string(100, 'a')).size(), 100u);
  EXPECT_THAT(encode(std::string(101, 'a')), ElementsAre(kUnk));
}

TEST(WordPiece, SpecialTokens) {
  const auto t = Tokenizer::make(test::bert_vocabulary(kPieces));
  EXPECT_THAT(t->encode("want", {.add_special = true}), ElementsAre(kCls, id("want"), kSep));
  EXPECT_THAT(t->encode("want [MASK]!", {.parse_special = true}), ElementsAre(id("want"), kMask, id("!")));
  EXPECT_THAT(t->encode("[MASK]"), ElementsAre(kUnk, kUnk, kUnk));
}

TEST(WordPiece, DecodingReadsLikeText) {
  const auto t = Tokenizer::make(test::bert_vocabulary(kPieces));
  const std::vector<Token> tokens = t->encode("the unaffable, wanted!", {.add_special = true});
  EXPECT_EQ(t->decode(tokens), "the unaffable, wanted!");
  EXPECT_EQ(t->decode(tokens, true), "[CLS] the unaffable, wanted! [SEP]");
  EXPECT_EQ(t->decode(std::vector<Token>{id("a"), id("'"), id("a"), kMask, id("a")}, true), "a'a [MASK] a");
  EXPECT_EQ(t->display(id("##able")), "##able");
  EXPECT_EQ(t->display(id("want")), "want");
  EXPECT_EQ(t->display(kMask), "[MASK]");
}

}  // namespace
}  // namespace pgdlm
