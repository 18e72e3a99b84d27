// Claims are told by paired differences: at each point, and of all points together.
#include "eval/claims.h"

#include <gmock/gmock.h>

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kStudy = R"({
  "title": "t", "task": "t", "options": {"model": "toy", "n_predict": 8},
  "panels": [{"name": "up", "options": {"reward": "positive"}}, {"name": "down", "options": {"reward": "negative"}}],
  "series": [{"name": "one", "options": {"method": "bon"}, "vary": {"particles": [2, 4]}},
             {"name": "other", "options": {"method": "smc"}, "vary": {"particles": [2, 4]}}],
  "figures": [{"y": "reward"}],
  "claims": [{"says": "CLAIM", "more": "one", "than": "other", "of": "reward"}]})";

// Rewards of every cell by question: one in up at 2, at 4, other in up at 2, at 4, and the same of down.
FinishedStudy finished(std::string claim, const std::vector<std::vector<double>>& rewards) {
  std::string text = kStudy;
  if (!claim.empty()) {
    const std::size_t at = text.find("\"claims\"");
    text.replace(at, text.size() - at, "\"claims\": [" + claim + "]}");
  }
  FinishedStudy out{.study = parse_study(text, "s")};
  out.questions.resize(rewards.front().size());
  for (std::size_t i = 0; i < out.study.cells.size(); ++i) {
    FinishedCell cell{.cell = out.study.cells[i]};
    for (const double reward : rewards[i]) {
      cell.texts.emplace_back();
      cell.texts.back().result.reward = reward;
      cell.texts.back().result.particles = static_cast<int>(cell.cell.at);
    }
    out.cells.push_back(std::move(cell));
  }
  return out;
}

const std::vector<std::vector<double>> kRewards = {
    {1.0, 2.1, 3.0}, {2.0, 3.0, 4.0}, {0.0, 1.0, 2.1}, {2.0, 3.5, 3.5},   // up
    {1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}, {2.0, 2.1, 2.2}, {0.0, 0.0, 0.0}};  // down

TEST(Claims, HoldBeyondTwoStandardErrorsOfPairedDifferences) {
  const Table table = claims_of(finished("", kRewards));
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_THAT(table.rows[0], ElementsAre("CLAIM", "up: 2", "+1 ± 0.058", "holds", "2.0 : 2.0"));  // 1, 1.1, 0.9
  EXPECT_THAT(table.rows[1], ElementsAre("CLAIM", "up: 4", "+0 ± 0.29", "unresolved", "4.0 : 4.0"));
  EXPECT_THAT(table.rows[2][3], "does not hold");  // -1, -1.1, -1.2
  EXPECT_THAT(table.rows[3], ElementsAre("CLAIM", "down: 4", "+0 ± 0", "unresolved", "4.0 : 4.0"));
}

// Of each question the mean over points and panels: 0, -0.125, 0.05.
TEST(Claims, PointsOfAQuestionCountOnce) {
  const Table table = claims_of(finished("", kRewards));
  EXPECT_EQ(table.rows[4][1], "all together");
  EXPECT_EQ(table.rows[4][2], "-0.025 ± 0.052");
  EXPECT_EQ(table.rows[4][3], "unresolved; about 52 questions would tell");  // 3 (2 x 0.05204 / 0.025)^2
  EXPECT_EQ(table.rows[4][4], "3.0 : 3.0");
}

TEST(Claims, WithoutAnotherSeriesMoreThanNothing) {
  const Table table = claims_of(finished(R"({"says": "some", "more": "one", "of": "reward", "at": [4]})", kRewards));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0], ElementsAre("some", "up: 4", "+3 ± 0.58", "holds", "4.0"));
  EXPECT_THAT(table.rows[1][3], HasSubstr("unresolved"));
}

}  // namespace
}  // namespace pgdlm
