// Rows, nucleus rules, ranking and the defaults of Backward, by hand.
#include "diffusion/backward/common.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "diffusion/backward/ranked.h"
#include "kit/enumerate.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

// Logits whose softmax at temperature 1 is the given distribution.
std::vector<float> logits_of(const std::vector<double>& probs) {
  std::vector<float> logits;
  for (double p : probs) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

void expect_probs(const Row& row, const std::vector<double>& expected) {
  ASSERT_EQ(row.probs().size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v) EXPECT_NEAR(row.probs()[v], expected[v], 1e-7) << "token " << v;
}

const std::vector<float> kLogits = logits_of({0.2, 0.5, 0.3});

TEST(Row, BansTheMaskBeforeTheSoftmax) {
  const std::array<float, 3> logits = {1.0F, 2.0F, 900.0F};  // the mask's logit would swallow everything
  const std::array<Token, 1> mask = {2};
  const double e = std::exp(1.0);
  expect_probs(Row(logits, mask), {1 / (1 + e), e / (1 + e), 0});
}

TEST(Row, MaskOutsideTheVocabularyIsNoBan) {
  const std::array<Token, 2> outside = {3, -1};
  expect_probs(Row(kLogits, outside), {0.2, 0.5, 0.3});
}

TEST(Row, TemperatureSharpensAndZeroIsArgMax) {
  expect_probs(Row(kLogits, {}, {.temperature = 0.5}), {0.04 / 0.38, 0.25 / 0.38, 0.09 / 0.38});
  expect_probs(Row(kLogits, {}, {.temperature = 0}), {0, 1, 0});
  const std::array<float, 3> tied = {1.0F, 3.0F, 3.0F};
  EXPECT_EQ(Row(tied, {}, {.temperature = 0}).best(), 1);
  EXPECT_EQ(Row(tied, {}).best(), 1);
}

// In order: 0.5, 0.3, 0.2; cumulative 0.5, 0.8, 1.
TEST(Row, UsualNucleusKeepsTheTokenThatCrosses) {
  expect_probs(Row(kLogits, {}, {.top_p = 0.6}), {0, 0.625, 0.375});
  expect_probs(Row(kLogits, {}, {.top_p = 0.4}), {0, 1, 0});
  expect_probs(Row(kLogits, {}, {.top_p = 0.81}), {0.2, 0.5, 0.3});
}

TEST(Row, RemdmNucleusDropsTheTokenThatCrosses) {
  const auto row = [](double p) { return Row(kLogits, {}, {.top_p = p, .nucleus = Nucleus::remdm}); };
  expect_probs(row(0.6), {0, 1, 0});
  expect_probs(row(0.81), {0, 0.625, 0.375});
  expect_probs(row(0.1), {0, 1, 0});  // the first is always kept
  expect_probs(row(1), {0.2, 0.5, 0.3});
}

TEST(Row, TopKKeepsSoManyAndBreaksTiesByTokenId) {
  expect_probs(Row(kLogits, {}, {.top_k = 2}), {0, 0.625, 0.375});
  expect_probs(Row(logits_of({0.25, 0.25, 0.25, 0.25}), {}, {.top_k = 2}), {0.5, 0.5, 0, 0});
  expect_probs(Row(kLogits, {}, {.top_p = 0.4, .top_k = 2}), {0, 1, 0});
}

TEST(Row, CertainOutcomesCostNoDraw) {
  const Row certain(kLogits, {}, {.top_k = 1});
  EXPECT_EQ(kit::enumerate([&](Source& s) { EXPECT_EQ(certain.draw(*s.open({})), 1); }, [](double) {}), 1);
  const auto law = kit::law_of([&](Source& s) { return Row(kLogits, {}).draw(*s.open({})); });
  EXPECT_NEAR(law.at(2), 0.3, 1e-7);
}

TEST(Row, BrokenLogitsAreTheModelsFault) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const auto code = [](std::vector<float> logits) {
    try {
      Row row(logits, {});
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code({0.0F, kNan}), ErrorCode::bad_model);
  EXPECT_EQ(code({kNan, 0.0F}), ErrorCode::bad_model);
  EXPECT_EQ(code({0.0F, kInf}), ErrorCode::bad_model);
  EXPECT_EQ(code({-kInf, -kInf}), ErrorCode::bad_model);
  EXPECT_EQ(code({}), ErrorCode::bad_model);
  EXPECT_NO_THROW(Row(std::vector<float>{-kInf, 0.0F}, {}));
}

TEST(Ranking, TiesGoToTheFirstPosition) {
  const auto kept = most_confident({{7, 0, 0.5}, {2, 0, 0.5}, {4, 0, 0.9}, {1, 0, 0.1}}, 2);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].position, 2);
  EXPECT_EQ(kept[1].position, 4);
  EXPECT_TRUE(most_confident({{7, 0, 0.5}}, 0).empty());
  EXPECT_EQ(most_confident({{7, 0, 0.5}}, 3).size(), 1u);
}

TEST(Ranking, SubsetsAreEquallyLikelyAndDrawnOnce) {
  const std::vector<Position> candidates = {1, 3, 4, 8, 9};
  std::int64_t leaves = 0;
  std::map<std::vector<Position>, double> law;
  leaves = kit::enumerate([&](Source& s) { return draw_subset(candidates, 2, *s.open({})); },
                          [&](auto subset, double p) { law[subset] += p; });
  EXPECT_EQ(leaves, 10);
  ASSERT_EQ(law.size(), 10u);
  for (const auto& [subset, p] : law) EXPECT_NEAR(p, std::exp(log_subset_prob(5, 2)), 1e-15);
}

TEST(BackwardDefaults, TimesRunFromOneToZero) {
  const auto process = make_mdlm();
  const std::vector<double> expected = {1, 0.75, 0.5, 0.25, 0};
  EXPECT_EQ(process->times(4), expected);
  EXPECT_EQ(process->block_ends(Frame{}, 4), std::vector<int>{4});
}

}  // namespace
}  // namespace pgdlm
