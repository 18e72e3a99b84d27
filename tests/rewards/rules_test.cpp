// Rules, sums of rewards and how they are written.
#include "rewards/rules.h"

#include <gmock/gmock.h>

#include <limits>

#include "pgdlm/error.h"
#include "rewards/expression.h"
#include "rewards/open_reward.h"

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

double of(const std::string& expression, const std::string& reply, const std::string& prompt = "plot") {
  const Passage text{prompt, reply, prompt + " " + reply};
  return open_text_reward(expression)->score({&text, 1})[0].score;
}

std::string refusal(const std::string& expression) {
  try {
    open_text_reward(expression);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Rules, ContainsWholeWordsOfTheReply) {
  EXPECT_EQ(of("contains:plot", "A Plot, at last."), 1);
  EXPECT_EQ(of("contains:plot", "a plotter"), 0);
  EXPECT_EQ(of("contains:plot", "nothing"), 0);  // the prompt does not count
  EXPECT_EQ(of("contains:so far", "It is so far, so good"), 1);
  EXPECT_EQ(of("contains:?!", "what?!"), 1);
  EXPECT_EQ(of("contains:caf\u00e9", "the caf\u00e9."), 1);
  EXPECT_EQ(of("contains:caf", "the caf\u00e9."), 0);
}

TEST(Rules, RegularExpressions) {
  EXPECT_EQ(of("regex:/[0-9]{3}/", "room 101"), 1);
  EXPECT_EQ(of("regex:/^a + b$/", "a  b"), 1);  // a sign inside the slashes is part of the pattern
  EXPECT_EQ(of("regex:/GREAT/", "great"), 0);
  EXPECT_EQ(of("regex:/GREAT/i", "great"), 1);
  EXPECT_EQ(of("regex:/^\\w+$/", "\xff"), 0);
  EXPECT_THAT(refusal("regex:/(/"), HasSubstr("is wrong at byte"));
  EXPECT_THAT(refusal("regex:abc"), HasSubstr("not regex:/PATTERN/"));
  EXPECT_THAT(refusal("regex:/abc"), HasSubstr("a closing slash"));
  EXPECT_THROW(of("regex:/^(a+)+$/", std::string(40, 'a') + "!"), Error);
}

TEST(Rules, LengthJsonAndMust) {
  EXPECT_EQ(of("length:2..3", "one two three"), 0);
  EXPECT_EQ(of("length:5..9", " one  two\nthree "), -2);
  EXPECT_EQ(of("length:0..1", "one two three"), -2);
  EXPECT_EQ(of("json", R"({"a": [1, 2]})"), 1);
  EXPECT_EQ(of("json", R"({"a": [1, 2})"), 0);
  EXPECT_EQ(of("must:json", "3"), 0);
  EXPECT_EQ(of("must:json", "oh"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(of("2*must:json - contains:oh", "oh"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(of("must:regex:/\"a\"/", "a"), -std::numeric_limits<double>::infinity());
  EXPECT_THAT(refusal("-must:json"), HasSubstr("would forbid what keeps the rule"));
  for (const char* bad : {"length:5", "length:9..2", "length:a..b", "length:-1..2", "must:length:1..2", "must:prm",
                          "contains:", "must:", "json:x", "answer:many", "answer:", "exec:"})
    EXPECT_NE(refusal(bad), "") << bad;
}

TEST(Rules, TheAnswerIsRead) {
  EXPECT_EQ(final_number("so 3 + 4 = 7\n#### 7"), "7");
  EXPECT_EQ(final_number("#### 5\nwait\n#### 1,234.50 dollars in 2 days"), "1234.5");
  EXPECT_EQ(final_number("It is $\\boxed{-12}$, not 13."), "-12");
  EXPECT_EQ(final_number("That makes $1,000."), "1000");
  EXPECT_EQ(final_number("between 3-4 we choose 04.00"), "4");
  EXPECT_EQ(final_number("-0.0"), "0");
  EXPECT_EQ(final_number("0.50"), "0.5");
  EXPECT_EQ(final_number("none"), std::nullopt);
  EXPECT_EQ(final_number("#### none, or 3\n5"), "3");
  EXPECT_EQ(final_number("####\n5"), "5");
  EXPECT_EQ(final_number("The answer is .5"), "0.5");
  EXPECT_EQ(final_number("a loss of -$3"), "-3");
  EXPECT_EQ(final_number("\u22123 degrees"), "-3");
  EXPECT_EQ(final_number("1{,}200"), "1200");
  EXPECT_EQ(final_number("\\boxed{x}, as 3 says"), "3");
  EXPECT_EQ(final_number("\\boxed{12}, not 13"), "12");
  EXPECT_EQ(of("answer:42", "#### 42.0"), 1);
  EXPECT_EQ(of("answer:-3", "it is -3"), 1);
  EXPECT_EQ(of("answer:42", "41"), 0);
}

TEST(Expression, IsASumOfTerms) {
  EXPECT_THAT(parse_expression("prm"), ElementsAre(Term{1, "prm"}));
  EXPECT_THAT(parse_expression(" 0.7*sentiment:positive + 0.3 * cola-nano - toxicity "),
              ElementsAre(Term{0.7, "sentiment:positive"}, Term{0.3, "cola-nano"}, Term{-1, "toxicity"}));
  EXPECT_THAT(parse_expression("-toxicity"), ElementsAre(Term{-1, "toxicity"}));
  EXPECT_THAT(parse_expression("a - -2*b + +c"), ElementsAre(Term{1, "a"}, Term{2, "b"}, Term{1, "c"}));
  EXPECT_THAT(parse_expression("exec:\"./s.py - x\" + 1e-2*m"),
              ElementsAre(Term{1, "exec:./s.py - x"}, Term{0.01, "m"}));
  EXPECT_THAT(parse_expression("2*regex:/a - \\/ + b/i - json"),
              ElementsAre(Term{2, "regex:/a - \\/ + b/i"}, Term{-1, "json"}));
  EXPECT_THAT(parse_expression("contains:so far"), ElementsAre(Term{1, "contains:so far"}));
  EXPECT_THAT(parse_expression("must:regex:/\"a\" + b/ + json"),
              ElementsAre(Term{1, "must:regex:/\"a\" + b/"}, Term{1, "json"}));
  EXPECT_THAT(parse_expression("exec:jq -c \"[1 + 2]\" x"), ElementsAre(Term{1, "exec:jq -c \"[1 + 2]\" x"}));
  EXPECT_THAT(parse_expression("contains:\"a \""), ElementsAre(Term{1, "contains:a "}));
  for (const char* bad : {"", " ", "a + ", "+", "0.5*", "a +  + b", "\"open", "inf*a", "0*a"})
    EXPECT_THROW(parse_expression(bad), Error) << bad;
}

TEST(Expression, TermsAreAddedUp) {
  EXPECT_EQ(of("2*contains:a + 0.5*length:1..2 - json", "a b c"), 2 - 0.5);
  EXPECT_EQ(of("-json", "1"), -1);
  const Passage text{"", "a b", "a b"};
  const auto blend = open_text_reward("3*contains:a + contains:c");
  EXPECT_THAT(blend->score({&text, 1})[0].parts, ElementsAre(1, 0));
  EXPECT_THAT(blend->labels(), ElementsAre("contains:a", "contains:c"));
  EXPECT_FALSE(blend->accepts_prefixes());
}

}  // namespace
}  // namespace pgdlm
