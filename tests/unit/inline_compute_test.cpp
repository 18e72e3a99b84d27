// InlineCompute: the engine's rules of cost and reuse, without the engine.
#include "diffusion/inline_compute.h"

#include <gtest/gtest.h>

#include "kit/toy_denoiser.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using kit::ToyDenoiser;
using kit::ToyReward;

// Jobs for these states whose reductions write down one logit each.
std::vector<PredictJob> jobs_for(const std::vector<std::vector<Token>>& states, std::vector<float>& seen) {
  seen.assign(states.size(), 0);
  std::vector<PredictJob> jobs;
  for (std::size_t i = 0; i < states.size(); ++i) {
    jobs.push_back({states[i], std::vector<float>(states[i].size(), 0), 1.0 / static_cast<double>(i + 1),
                    [&seen, i](StateView, const Prediction& p) { seen[i] = p.logits(0)[0]; }});
  }
  return jobs;
}

struct ShortDenoiser final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView>) override { return {}; }
  int vocab() const override { return 2; }
  Token mask() const override { return 2; }
};
struct NullDenoiser final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    return std::vector<PredictionPtr>(states.size());
  }
  int vocab() const override { return 2; }
  Token mask() const override { return 2; }
};
struct LongReward final : Reward {
  std::vector<double> score(std::span<const Candidate> c) override { return std::vector<double>(c.size() + 1); }
};

const Frame kFrame = kit::toy_frame(3, 2);
const std::vector<std::vector<Token>> kStates = {{2, 2, 2}, {0, 2, 2}, {2, 2, 2}, {0, 2, 2}, {1, 1, 2}};

TEST(InlineCompute, OneForwardPerDistinctState) {
  ToyDenoiser denoiser;
  InlineCompute compute(denoiser, nullptr, kFrame);
  std::vector<float> seen;
  run_inline(compute.predict(jobs_for(kStates, seen)));
  EXPECT_EQ(denoiser.states_run(), 3);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_EQ(seen[1], seen[3]);
  EXPECT_NE(seen[0], seen[1]);
  run_inline(compute.predict(jobs_for(kStates, seen)));
  EXPECT_EQ(denoiser.states_run(), 3);
  EXPECT_EQ(compute.cost().forwards_asked, 10);
  EXPECT_EQ(compute.cost().forwards_run, 3);
  EXPECT_EQ(compute.cost().tokens_run, 9);
}

TEST(InlineCompute, WithoutMemoEveryJobRunsAndNothingChanges) {
  ToyDenoiser denoiser;
  InlineCompute with(denoiser, nullptr, kFrame), without(denoiser, nullptr, kFrame, false);
  std::vector<float> seen, seen_without;
  run_inline(with.predict(jobs_for(kStates, seen)));
  run_inline(without.predict(jobs_for(kStates, seen_without)));
  EXPECT_EQ(seen, seen_without);
  EXPECT_EQ(without.cost().forwards_run, 5);
  EXPECT_EQ(without.cost().tokens_run, 15);
}

TEST(InlineCompute, TimeCountsForDenoisersThatLookAtIt) {
  ToyDenoiser denoiser({.time_dependent = true});
  InlineCompute compute(denoiser, nullptr, kFrame);
  std::vector<float> seen;
  run_inline(compute.predict(jobs_for(kStates, seen)));  // every job has a time of its own
  EXPECT_EQ(compute.cost().forwards_run, 5);
}

TEST(InlineCompute, OneScoringPerDistinctText) {
  ToyDenoiser denoiser;
  ToyReward reward;
  for (const bool memo : {true, false}) {
    InlineCompute compute(denoiser, &reward, kFrame, memo);
    std::vector<double> scores(4);
    const auto jobs = [&] {
      return std::vector<ScoreJob>{{{0, 1, 0}, 0, true, &scores[0]},
                                   {{0, 1, 1}, 0, true, &scores[1]},
                                   {{0, 1, 0}, 0, true, &scores[2]},
                                   {{0, 1, 0}, 0, false, &scores[3]}};
    };
    run_inline(compute.score(jobs()));
    run_inline(compute.score(jobs()));
    EXPECT_EQ(scores[0], reward.of(std::vector<Token>{0, 1, 0}));
    EXPECT_EQ(scores[1], reward.of(std::vector<Token>{0, 1, 1}));
    EXPECT_EQ(scores[0], scores[2]);
    EXPECT_EQ(compute.cost().rewards_asked, 8);
    EXPECT_EQ(compute.cost().rewards_run, memo ? 3 : 8);
  }
}

TEST(InlineCompute, WithoutARewardEverythingScoresZero) {
  ToyDenoiser denoiser;
  InlineCompute compute(denoiser, nullptr, kFrame);
  double score = 5;
  run_inline(compute.score({{{0, 1, 0}, 0, true, &score}}));
  EXPECT_EQ(score, 0);
  EXPECT_EQ(compute.cost().rewards_asked, 1);
  EXPECT_EQ(compute.cost().rewards_run, 0);
}

TEST(InlineCompute, MiscountedAnswersAreBadModels) {
  ShortDenoiser short_denoiser;
  NullDenoiser null_denoiser;
  LongReward long_reward;
  std::vector<float> seen;
  double score = 0;
  const auto code_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  InlineCompute a(short_denoiser, &long_reward, kFrame), b(null_denoiser, nullptr, kFrame);
  EXPECT_EQ(code_of([&] { run_inline(a.predict(jobs_for(kStates, seen))); }), ErrorCode::bad_model);
  EXPECT_EQ(code_of([&] { run_inline(b.predict(jobs_for(kStates, seen))); }), ErrorCode::bad_model);
  EXPECT_EQ(code_of([&] { run_inline(a.score({{{0, 1, 0}, 0, true, &score}})); }), ErrorCode::bad_model);
}

}  // namespace
}  // namespace pgdlm
