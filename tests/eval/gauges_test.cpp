#include "eval/gauges.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Gauges, ErrorsAreOverQuestions) {
  const auto mean = mean_of_groups({{1, 3}, {}, {4, 4}});
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->value, 3);
  EXPECT_DOUBLE_EQ(*mean->error, 1);  // of 2 and 4: sqrt(2 / 2)
  EXPECT_FALSE(mean_of_groups({{}, {}}));
  EXPECT_FALSE(mean_of_groups({{7}})->error);
}

TEST(Gauges, DifferencesArePaired) {
  const auto mean = mean_of_groups(differences({{1, 3}, {5}, {}, {9}}, {{1}, {4}, {2}, {8}}));
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->value, 1);
  EXPECT_DOUBLE_EQ(*mean->error, 0);  // each question gives one more
}

struct GaugesOfTexts : testing::Test {
  GaugesOfTexts() {
    for (Text& text : texts) text.result.reward = 0.5;
    texts[0].result.reply = "1";
    texts[3].result.reward = -std::numeric_limits<double>::infinity();
    texts[4].result.reply = "2";
    texts[5].result.reply = "is 2";
  }
  Groups of(const char* name) { return groups_of(find_gauge(name), questions, texts); }

  std::vector<Question> questions = {{"a", "1"}, {"b", std::nullopt}, {"c", "2"}};
  std::vector<Text> texts = std::vector<Text>(6);
};

TEST_F(GaugesOfTexts, RightAnswersWhereThereAreAny) {
  EXPECT_THAT(of("accuracy"), ElementsAre(ElementsAre(1, 0), ElementsAre(), ElementsAre(1, 1)));
}
TEST_F(GaugesOfTexts, ForbiddenTextsHaveNoReward) {
  EXPECT_THAT(of("reward"), ElementsAre(ElementsAre(0.5, 0.5), ElementsAre(0.5), ElementsAre(0.5, 0.5)));
}
TEST_F(GaugesOfTexts, WhatWasNotMeasuredIsNotThere) {
  texts[1].labelled = true;
  texts[1].nats = std::log(20);
  EXPECT_THAT(of("label"), ElementsAre(ElementsAre(1), ElementsAre(), ElementsAre()));
  const Mean perplexity = readable(find_gauge("perplexity"), *mean_of_groups(of("perplexity")));
  EXPECT_THAT(perplexity.value, DoubleNear(20, 1e-9));
}
TEST_F(GaugesOfTexts, WordsThatRepeat) {
  texts[0].result.text = "the cat saw the cat";
  texts[1].result.text = "the cat";
  EXPECT_THAT(of("distinct_1")[0], ElementsAre(DoubleNear(3 / 7.0, 1e-12)));  // the, cat, saw
  EXPECT_THAT(of("distinct_2")[0], ElementsAre(DoubleNear(3 / 7.0, 1e-12)));  // the cat, cat saw, saw the
  EXPECT_THAT(of("distinct_3")[0], ElementsAre(DoubleNear(3 / 7.0, 1e-12)));
  EXPECT_THAT(of("distinct_1")[1], ElementsAre());
}
TEST_F(GaugesOfTexts, VarianceOfTheEvidence) {
  texts[0].result.by_sweep = {{.log_z = 1000 + std::log(1.0)}};  // too large for exp
  texts[1].result.by_sweep = {{.log_z = 1000 + std::log(3.0)}};
  EXPECT_THAT(of("evidence_variance")[0], ElementsAre(DoubleNear(2.0 / 4, 1e-9)));  // variance 2, mean 2
  texts[2].result.by_sweep = texts[3].result.by_sweep = {{.log_z = -std::numeric_limits<double>::infinity()}};
  EXPECT_THAT(of("evidence_variance")[1], ElementsAre());
  for (Text& text : texts) text.result.by_sweep = {{.conditional = true}};
  EXPECT_THAT(of("evidence_variance")[0], ElementsAre());
}
TEST_F(GaugesOfTexts, TheLastSweepCounts) {
  texts[0].result.by_sweep = {{.particles = 1, .ess = 1},
                              {.particles = 4, .ess = 3, .renewed = 0.25, .ancestors = {2, 3, 4, 4}}};
  texts[1].result.by_sweep = {{.particles = 1, .ess = 1}};  // a greedy start that was good enough
  EXPECT_THAT(of("ess")[0], ElementsAre(3));
  EXPECT_THAT(of("renewed")[0], ElementsAre(0.25));
  EXPECT_THAT(of("ancestors")[0], ElementsAre(2));
}

TEST(Gauges, UnknownNamesAreTold) {
  try {
    find_gauge("acuracy");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("figure is 'acuracy', allowed: accuracy, label"));
  }
}

}  // namespace
}  // namespace pgdlm
