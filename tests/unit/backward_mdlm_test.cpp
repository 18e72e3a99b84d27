#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kit/backward_case.h"
#include "kit/enumerate.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using kit::State;

TEST(Mdlm, KeepsTheContract) {
  kit::ToyDenoiser two({.tokens = 2}), three({.tokens = 3, .seed = 4}), timed({.tokens = 2, .time_dependent = true});
  kit::expect_contract(*make_mdlm(), two, kit::toy_frame(4, 2, {2}), 3);
  kit::expect_contract(*make_mdlm(), three, kit::toy_frame(3, 3, {}, 1), 4);
  kit::expect_contract(*make_mdlm(), timed, kit::toy_frame(3, 2), 3);
  kit::expect_contract(*make_mdlm({.fk_grid = true}), two, kit::toy_frame(3, 2), 3);
}

TEST(Mdlm, KeepsTheContractUnderFilters) {
  kit::ToyDenoiser denoiser({.tokens = 4, .seed = 9});
  const Frame frame = kit::toy_frame(3, 4, {1});
  kit::expect_contract(*make_mdlm({.filter = {.temperature = 0.7}}), denoiser, frame, 2);
  kit::expect_contract(*make_mdlm({.filter = {.temperature = 0}}), denoiser, frame, 2);
  kit::expect_contract(*make_mdlm({.filter = {.top_p = 0.8}}), denoiser, frame, 2);
  kit::expect_contract(*make_mdlm({.filter = {.top_p = 0.8, .nucleus = Nucleus::remdm}}), denoiser, frame, 2);
  kit::expect_contract(*make_mdlm({.filter = {.top_k = 2}}), denoiser, frame, 2);
}

// Two masks, s/t = 2/3: each is revealed with probability 1/3 (Eq. 2), tokens from softmax without the mask.
TEST(Mdlm, TransitionByHand) {
  const auto process = make_mdlm();
  const Frame frame = kit::toy_frame(2, 2);
  kit::ToyDenoiser denoiser;
  const kit::StepCase at{*process, denoiser, frame, kit::step_of(*process, 3, 0)};
  const State from = kit::start_state(frame);
  const auto prediction = at.predict(from);
  const auto p = [&](Position l, Token v) {
    const auto logits = prediction->logits(l);
    return std::exp(double{logits[v]}) / (std::exp(double{logits[0]}) + std::exp(double{logits[1]}));
  };
  const auto law = at.law(from);
  const auto state = [](Token a, Token b) { return State{{a, b}, {0, 0}}; };
  EXPECT_NEAR(law.at(state(2, 2)), 4.0 / 9, 1e-14);
  EXPECT_NEAR(law.at(state(1, 2)), 2.0 / 9 * p(0, 1), 1e-14);
  EXPECT_NEAR(law.at(state(0, 1)), 1.0 / 9 * p(0, 0) * p(1, 1), 1e-14);
  EXPECT_EQ(law.size(), 9u);
}

TEST(Mdlm, DecidesBeforeLogitsAndQuietStepsDoNothing) {
  const auto process = make_mdlm();
  const Frame frame = kit::toy_frame(3, 2);
  const State from = kit::start_state(frame);
  const Step step = kit::step_of(*process, 4, 1);
  double quiet = 0;
  kit::enumerate([&](Source& s) { return process->decide(view(frame, from), step, *s.open({})); },
                 [&](const Decision& decision, double p) {
                   EXPECT_FALSE(decision.choose);
                   if (decision.quiet()) quiet += p;
                 });
  EXPECT_NEAR(quiet, std::pow(2.0 / 3, 3), 1e-14);
}

TEST(Mdlm, GreedyRevealsAsManyAsExpected) {
  const auto process = make_mdlm();
  kit::ToyDenoiser denoiser;
  const Frame frame = kit::toy_frame(7, 2, {0});
  State state = kit::start_state(frame);
  std::vector<int> left;
  for (int i = 0; i < 4; ++i) {
    const kit::StepCase at{*process, denoiser, frame, kit::step_of(*process, 4, i)};
    state = moved(state, process->greedy(view(frame, state), *at.predict(state), at.step));
    left.push_back(masked_count(view(frame, state)));
  }
  EXPECT_EQ(left, (std::vector<int>{5, 3, 2, 0}));  // round(6 s): 4.5 -> 5, 3, 1.5 -> 2, 0
}

TEST(Mdlm, GreedyTakesTheSurestPositionFirst) {
  const auto process = make_mdlm();
  const Frame frame = kit::toy_frame(3, 2);
  const State from = kit::start_state(frame);
  const TablePrediction prediction(3, {0, 1, 9, 5, 0, 9, 0, 2, 9});
  const Move move = process->greedy(view(frame, from), prediction, {.index = 0, .count = 3, .t = 1, .s = 2.0 / 3});
  EXPECT_EQ(move, (Move{{.position = 1, .token = 0}}));
}

TEST(Mdlm, FkGridHasOneUpdateMore) {
  const auto process = make_mdlm({.fk_grid = true});
  const auto times = process->times(4);
  ASSERT_EQ(times.size(), 6u);
  EXPECT_EQ(times[0], 1);
  EXPECT_NEAR(times[1], 1 - (1 - 1e-5) / 4, 1e-15);
  EXPECT_NEAR(times[4], 1e-5, 1e-15);
  EXPECT_EQ(times[5], 0);
  EXPECT_EQ(process->block_ends(Frame{}, 4), std::vector<int>{5});
}

// With a table that does not depend on the state, the order of reveals cannot matter.
TEST(Mdlm, EndOfTheTrajectoryHasTheProductLaw) {
  class Fixed final : public Denoiser {
   public:
    std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
      return {states.size(), std::make_shared<TablePrediction>(3, std::vector<float>{0, 1, 5, 2, 0, 5})};
    }
    int vocab() const override { return 3; }
    Token mask() const override { return 2; }
  } fixed;
  const double a = 1 / (1 + std::exp(1.0)), b = std::exp(2.0) / (1 + std::exp(2.0));
  const auto law = kit::final_law(*make_mdlm(), fixed, kit::toy_frame(2, 2), 5);
  EXPECT_EQ(law.size(), 4u);
  EXPECT_NEAR(law.at({{0, 0}, {0, 0}}), a * b, 1e-13);
  EXPECT_NEAR(law.at({{1, 1}, {0, 0}}), (1 - a) * (1 - b), 1e-13);
}

TEST(Mdlm, RefusesBadOptions) {
  const auto message = [](MdlmOptions options) -> std::string {
    try {
      make_mdlm(options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_request ? error.what() : "another code";
    }
    return "accepted";
  };
  EXPECT_EQ(message({.filter = {.top_p = 1.5}}), "mdlm.top_p is 1.5; allowed: more than 0, at most 1");
  EXPECT_EQ(message({.filter = {.top_p = 0}}), "mdlm.top_p is 0; allowed: more than 0, at most 1");
  EXPECT_EQ(message({.filter = {.temperature = -1}}), "mdlm.temperature is -1; allowed: 0 or more (0: arg max)");
  EXPECT_EQ(message({.filter = {.temperature = NAN}}), "mdlm.temperature is nan; allowed: 0 or more (0: arg max)");
  EXPECT_EQ(message({.filter = {.top_k = -3}}), "mdlm.top_k is -3; allowed: 0 (all tokens) or more");
}

}  // namespace
}  // namespace pgdlm
