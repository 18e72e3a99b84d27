#include "text/pretokenizer.h"

#include <string>

#include <gmock/gmock.h>

namespace pgdlm {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> split(SplitRule rule, std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_words(rule, text)) words.emplace_back(word);
  return words;
}

std::vector<std::string> gpt2(std::string_view text) { return split(SplitRule::gpt2, text); }
std::vector<std::string> qwen2(std::string_view text) { return split(SplitRule::qwen2, text); }
std::vector<std::string> llama3(std::string_view text) { return split(SplitRule::llama3, text); }

TEST(PreTokenizer, WordsTakeTheSpaceBeforeThem) {
  EXPECT_THAT(gpt2("Hello brave world"), ElementsAre("Hello", " brave", " world"));
  EXPECT_THAT(qwen2("Hello brave world"), ElementsAre("Hello", " brave", " world"));
  EXPECT_THAT(gpt2(""), ElementsAre());
}

TEST(PreTokenizer, OfSeveralBlanksTheLastGoesWithTheWord) {
  EXPECT_THAT(gpt2("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(gpt2("a   "), ElementsAre("a", "   "));
  EXPECT_THAT(gpt2("   "), ElementsAre("   "));
  EXPECT_THAT(qwen2("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(qwen2("a   "), ElementsAre("a", "   "));
}

TEST(PreTokenizer, OnlyASpaceJoinsAWordInGpt2) {
  EXPECT_THAT(gpt2("a\tb"), ElementsAre("a", "\t", "b"));
  EXPECT_THAT(gpt2("a \tb"), ElementsAre("a", " ", "\t", "b"));
  EXPECT_THAT(gpt2("a\u00A0b"), ElementsAre("a", "\u00A0", "b"));
  EXPECT_THAT(gpt2("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
  EXPECT_THAT(gpt2("a\n b"), ElementsAre("a", "\n", " b"));
}

TEST(PreTokenizer, AnyCharacterButALineBreakJoinsAWordInQwen2) {
  EXPECT_THAT(qwen2("a\tb"), ElementsAre("a", "\tb"));
  EXPECT_THAT(qwen2("(b)"), ElementsAre("(b", ")"));
  EXPECT_THAT(qwen2("a\nb"), ElementsAre("a", "\n", "b"));
  EXPECT_THAT(qwen2("\u2026b"), ElementsAre("\u2026b"));
  EXPECT_THAT(qwen2("1b"), ElementsAre("1", "b"));
  EXPECT_THAT(qwen2("!!b"), ElementsAre("!!", "b"));  // the run of two comes after the rule for one and a letter
}

TEST(PreTokenizer, LineBreaksInQwen2) {
  EXPECT_THAT(qwen2("a \n\n b"), ElementsAre("a", " \n\n", " b"));
  EXPECT_THAT(qwen2("a\n \n  b"), ElementsAre("a", "\n \n", " ", " b"));
  EXPECT_THAT(qwen2("a\r\n"), ElementsAre("a", "\r\n"));
  EXPECT_THAT(qwen2("end.\n\nNext"), ElementsAre("end", ".\n\n", "Next"));
  EXPECT_THAT(qwen2(" ?!\n"), ElementsAre(" ?!\n"));
  EXPECT_THAT(gpt2("end.\n"), ElementsAre("end", ".", "\n"));
}

TEST(PreTokenizer, Contractions) {
  EXPECT_THAT(
      gpt2("I've we'll don't he's I'm they're you'd"),
      ElementsAre("I", "'ve", " we", "'ll", " don", "'t", " he", "'s", " I", "'m", " they", "'re", " you", "'d"));
  EXPECT_THAT(gpt2("'sun"), ElementsAre("'s", "un"));
  EXPECT_THAT(gpt2("'SUN"), ElementsAre("'", "SUN"));  // GPT-2 minds case
  EXPECT_THAT(qwen2("'SUN"), ElementsAre("'S", "UN"));
  EXPECT_THAT(qwen2("We'Ve a'lL"), ElementsAre("We", "'Ve", " a", "'lL"));
  EXPECT_THAT(qwen2("'era"), ElementsAre("'era"));
  EXPECT_THAT(gpt2("' era"), ElementsAre("'", " era"));
  EXPECT_THAT(qwen2("x'\u017F"), ElementsAre("x", "'\u017F"));  // the long s is an s to (?i)
  EXPECT_THAT(gpt2("''s"), ElementsAre("''", "s"));
  EXPECT_THAT(gpt2(" 's"), ElementsAre(" '", "s"));
}

TEST(PreTokenizer, Digits) {
  EXPECT_THAT(gpt2("in 2024"), ElementsAre("in", " 2024"));
  EXPECT_THAT(qwen2("in 2024"), ElementsAre("in", " ", "2", "0", "2", "4"));
  EXPECT_THAT(llama3("in 2024"), ElementsAre("in", " ", "202", "4"));
  EXPECT_THAT(llama3("1234567"), ElementsAre("123", "456", "7"));
}

TEST(PreTokenizer, NumbersAndLettersOfAllScripts) {
  EXPECT_THAT(gpt2("x²"), ElementsAre("x", "²"));  // No
  EXPECT_THAT(qwen2("4½"), ElementsAre("4", "½"));
  EXPECT_THAT(llama3("4½²1"), ElementsAre("4½²", "1"));
  EXPECT_THAT(qwen2("٣٤"), ElementsAre("٣", "٤"));  // Arabic-Indic digits, Nd
  EXPECT_THAT(gpt2("Ⅷa"), ElementsAre("Ⅷ", "a"));   // Nl
  EXPECT_THAT(gpt2("нещо Äpfel 我想"), ElementsAre("нещо", " Äpfel", " 我想"));
  EXPECT_THAT(gpt2("a\u0301b"), ElementsAre("a", "\u0301", "b"));  // a combining accent is no letter
  EXPECT_THAT(qwen2("a\u0301b"), ElementsAre("a", "\u0301b"));
  EXPECT_THAT(gpt2("\u3000我"), ElementsAre("\u3000", "我"));  // an ideographic space is \s but not a space
}

TEST(PreTokenizer, BrokenBytesAreCharactersOfNoClass) {
  EXPECT_THAT(gpt2("a\xFF\xFE b"), ElementsAre("a", "\xFF\xFE", " b"));
  EXPECT_THAT(gpt2("a\xE2\x82"), ElementsAre("a", "\xE2\x82"));
  EXPECT_THAT(qwen2("\xFFz"), ElementsAre("\xFFz"));
  EXPECT_THAT(qwen2("\xED\xA0\x80"), ElementsAre("\xED\xA0\x80"));  // a surrogate
}

TEST(PreTokenizer, NamesAreLlamaCpps) {
  ASSERT_NE(find_pretokenizer("roberta-bpe"), nullptr);
  EXPECT_TRUE(find_pretokenizer("roberta-bpe")->add_bos && find_pretokenizer("roberta-bpe")->add_eos);
  EXPECT_EQ(find_pretokenizer("bailingmoe")->rule, SplitRule::qwen2);
  EXPECT_TRUE(find_pretokenizer("llama-bpe")->ignore_merges);
  EXPECT_EQ(find_pretokenizer("default"), nullptr);
  EXPECT_EQ(find_pretokenizer(""), nullptr);
}

}  // namespace
}  // namespace pgdlm
