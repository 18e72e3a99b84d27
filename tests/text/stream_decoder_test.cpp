#include "text/stream_decoder.h"

#include <random>

#include <gtest/gtest.h>

#include "text/small_vocabulary.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

std::shared_ptr<const Tokenizer> bytes_only() { return Tokenizer::make(test::byte_vocabulary("gpt-2", {})); }

TEST(ValidUtf8, KeepsTextAndReplacesTheRest) {
  EXPECT_EQ(valid_utf8("Grüße 我 🦙"), "Grüße 我 🦙");
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\uFFFD");                            // one beginning, one replacement
  EXPECT_EQ(valid_utf8("\xE2\x82z"), "\uFFFDz");                          // what follows is not swallowed
  EXPECT_EQ(valid_utf8("\xF0\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");
}

TEST(StreamDecoder, WaitsForTheLastByteOfACharacter) {
  StreamDecoder stream(bytes_only());
  EXPECT_EQ(stream.feed('a'), "a");
  EXPECT_EQ(stream.feed(0xF0), "");
  EXPECT_EQ(stream.feed(0x9F), "");
  EXPECT_EQ(stream.feed(0xA6), "");
  EXPECT_EQ(stream.feed(0x99), "🦙");
  EXPECT_EQ(stream.flush(), "");
}

TEST(StreamDecoder, BrokenBytesAreReplacedAtOnceAndTailsAtTheEnd) {
  StreamDecoder stream(bytes_only());
  EXPECT_EQ(stream.feed(0xFF), "\uFFFD");
  EXPECT_EQ(stream.feed(0xE2), "");
  EXPECT_EQ(stream.feed('b'), "\uFFFDb");
  EXPECT_EQ(stream.feed(0xE2), "");
  EXPECT_EQ(stream.feed(0x82), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.feed('c'), "c");  // anew
}

TEST(StreamDecoder, ControlTokensAreSilentUnlessKept) {
  const auto tokenizer = bytes_only();
  EXPECT_EQ(StreamDecoder(tokenizer).feed(tokenizer->vocabulary().eos), "");
  EXPECT_EQ(StreamDecoder(tokenizer, true).feed(tokenizer->vocabulary().eos), "<eos>");
}

TEST(StreamDecoder, SpacesBetweenWordPieces) {
  const auto tokenizer = Tokenizer::make(test::bert_vocabulary({"do", "##ing", "it", ".", "("}));
  StreamDecoder stream(tokenizer);
  std::string text;
  for (const Token token : {5, 6, 7, 9, 7, 8}) text += stream.feed(token);
  EXPECT_EQ(text, "doing it (it.");
}

TEST(StreamDecoder, SaysWhatDecodeSays) {
  const auto tokenizer = bytes_only();
  std::mt19937 random(1);
  std::uniform_int_distribution<int> kind(0, 2), any(0, 255), lead(0xC0, 0xF5), tail(0x80, 0xBF);
  for (int round = 0; round < 2000; ++round) {
    StreamDecoder stream(tokenizer);
    std::vector<Token> tokens;
    std::string text;
    for (int i = 0; i < 30; ++i) {
      const int which = kind(random);
      tokens.push_back(which == 0 ? any(random) : which == 1 ? lead(random) : tail(random));
      text += stream.feed(tokens.back());
      ASSERT_EQ(text, valid_utf8(text));
    }
    text += stream.flush();
    ASSERT_EQ(text, valid_utf8(tokenizer->decode(tokens)));
  }
}

}  // namespace
}  // namespace pgdlm
