#include "serve/written.h"

#include <gtest/gtest.h>

#include <cmath>

#include "text/utf8.h"

namespace pgdlm::serve {
namespace {

// Bytes are tokens, so that characters can be cut in two; 0 is the mask, 1 the end.
class ByteModel final : public LanguageModel {
 public:
  std::shared_ptr<Denoiser> denoiser() const override { return nullptr; }
  ModelDefaults defaults() const override { return {}; }
  int max_length() const override { return 64; }
  Token mask() const override { return 0; }
  Token eos() const override { return 1; }
  std::vector<Token> encode(std::string_view text, std::string_view) const override {
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  std::vector<Token> encode_chat(std::span<const Message>) const override { return {}; }
  Passage read(std::span<const Token> tokens, int prompt) const override {
    Passage passage;
    for (std::size_t i = static_cast<std::size_t>(prompt); i < tokens.size() && tokens[i] != eos(); ++i)
      if (tokens[i] != mask()) passage.reply += static_cast<char>(tokens[i]);
    passage.reply = valid_utf8(passage.reply);
    return passage;
  }
  std::string show(std::span<const Token>) const override { return {}; }
  std::string piece(Token) const override { return {}; }
};

const ByteModel kModel;

Choice choice(int given, int length) { return {.given = given, .length = length}; }

TEST(Written, EndsAtTheEndOfTheText) {
  std::vector<Token> tokens = kModel.encode("pab", "");
  tokens.insert(tokens.end(), {1, 'x'});
  const Written text = written(tokens, choice(1, 4), {}, kModel);
  EXPECT_EQ(text.text, "ab");
  EXPECT_TRUE(text.stopped);
  EXPECT_EQ(text.tokens, 2);
}

TEST(Written, WithoutAnEndItIsTheLength) {
  const Written text = written(kModel.encode("pabc", ""), choice(1, 3), {}, kModel);
  EXPECT_EQ(text.text, "abc");
  EXPECT_FALSE(text.stopped);
}

TEST(Written, LeavesOutWhatFollowsTheGap) {
  EXPECT_EQ(written(kModel.encode("pabSUFFIX", ""), choice(1, 2), {}, kModel).text, "ab");
}

TEST(Written, StopsBeforeTheFirstStopSequence) {
  CompletionAsk ask;
  ask.stop = {"zz", "c", "bc"};
  const Written text = written(kModel.encode("abcd", ""), choice(0, 4), ask, kModel);
  EXPECT_EQ(text.text, "a");
  EXPECT_TRUE(text.stopped);
}

TEST(CertainText, HoldsBackWhatMayStillChange) {
  CompletionAsk ask;
  EXPECT_EQ(certain_text(kModel.encode("a\xc3", ""), choice(0, 9), ask, kModel), "a") << "half an umlaut";
  EXPECT_EQ(certain_text(kModel.encode("a\xc3\xa4", ""), choice(0, 9), ask, kModel), "a\xc3\xa4");
  ask.stop = {"stop", "top!"};
  EXPECT_EQ(certain_text(kModel.encode("a sto", ""), choice(0, 9), ask, kModel), "a ");
  EXPECT_EQ(certain_text(kModel.encode("a to", ""), choice(0, 9), ask, kModel), "a ");
  EXPECT_EQ(certain_text(kModel.encode("a stopper", ""), choice(0, 9), ask, kModel), "a ");
  EXPECT_EQ(certain_text(kModel.encode("a stump", ""), choice(0, 9), ask, kModel), "a stump");
}

TEST(Voted, TheAnswerWithTheMostWeight) {
  Answer answer;
  for (const auto& [text, reward, weight] :
       std::vector<std::tuple<const char*, double, double>>{{"so 7", 9, 0.3}, {"#### 8", 1, 0.2}, {"it is 8", 2, 0.25}})
    answer.candidates.push_back({.tokens = kModel.encode(text, ""), .reward = reward, .log_weight = std::log(weight)});
  EXPECT_EQ(voted(answer, choice(0, 9), kModel), 2) << "8 has more weight than 7, and this reward is the higher one";
  EXPECT_EQ(voted({}, choice(0, 9), kModel), -1);
}

}  // namespace
}  // namespace pgdlm::serve
