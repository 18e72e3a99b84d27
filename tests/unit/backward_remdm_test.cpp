#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kit/backward_case.h"
#include "kit/enumerate.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using kit::State;

constexpr Filter kPlain = {};

TEST(Remdm, EveryScheduleKeepsTheContract) {
  kit::ToyDenoiser two({.tokens = 2}), three({.tokens = 3, .seed = 5});
  const Frame prompted = kit::toy_frame(4, 2, {}, 1), infilled = kit::toy_frame(3, 3, {1});
  for (RemdmOptions options : std::vector<RemdmOptions>{
           {.schedule = RemdmSchedule::cap, .eta = 0.3},
           {.schedule = RemdmSchedule::cap, .eta = 1},
           {.schedule = RemdmSchedule::rescale, .eta = 0.4},
           {.schedule = RemdmSchedule::rescale, .eta = 1},
           {.schedule = RemdmSchedule::conf},
           {.schedule = RemdmSchedule::loop, .eta = 0.2, .t_on = 0.7, .t_off = 0.3, .alpha_on = 0.8},
           {.schedule = RemdmSchedule::loop, .eta = 0.02},  // the published values: every step outside t_off .. 0
           {.schedule = RemdmSchedule::forward_backward},
       }) {
    SCOPED_TRACE(static_cast<int>(options.schedule));
    options.filter = kPlain;
    kit::expect_contract(*make_remdm(options), two, prompted, 4);
    options.filter = {.top_p = 0.7, .nucleus = Nucleus::remdm};
    kit::expect_contract(*make_remdm(options), three, infilled, 3);
    options.filter = {.temperature = 0.8, .top_p = 0.7, .nucleus = Nucleus::usual};
    kit::expect_contract(*make_remdm(options), three, infilled, 3);
  }
}

TEST(Remdm, WithoutRemaskingItIsMdlm) {
  kit::ToyDenoiser denoiser({.tokens = 2});
  const Frame frame = kit::toy_frame(3, 2);
  const auto mdlm = make_mdlm();
  for (RemdmSchedule schedule : {RemdmSchedule::cap, RemdmSchedule::rescale}) {
    const auto remdm = make_remdm({.schedule = schedule, .eta = 0, .filter = kPlain});
    for (int i = 0; i < 3; ++i) {
      const kit::StepCase ours{*remdm, denoiser, frame, kit::step_of(*remdm, 3, i)};
      const kit::StepCase theirs{*mdlm, denoiser, frame, kit::step_of(*mdlm, 3, i)};
      kit::for_each_state(frame, false, [&](const State& from) {
        EXPECT_LT(total_variation(ours.law(from), theirs.law(from)), 1e-14);
      });
    }
  }
}

// t = 1/2, s = 1/4: alpha 1/2 -> 3/4, sigma_max = 1/2.
struct Coins {
  double reveal, remask;
};
Coins coins(const RemdmOptions& options, Step step) {
  const auto process = make_remdm(options);
  const Frame frame = kit::toy_frame(2, 2);
  const State half{{0, 2}, {0.5F, 0}};
  Coins sum{0, 0};
  kit::enumerate([&](Source& s) { return process->decide(view(frame, half, step.t), step, *s.open({})); },
                 [&](const Decision& decision, double p) {
                   if (!decision.reveal.empty()) sum.reveal += p;
                   if (!decision.ready.empty()) sum.remask += p;
                 });
  return sum;
}

constexpr Step kMiddle = {.index = 2, .count = 4, .t = 0.5, .s = 0.25};

TEST(Remdm, RatesByHand) {
  const Coins cap = coins({.schedule = RemdmSchedule::cap, .eta = 0.2}, kMiddle);
  EXPECT_NEAR(cap.remask, 0.2, 1e-15);
  EXPECT_NEAR(cap.reveal, (0.75 - 0.8 * 0.5) / 0.5, 1e-15);
  const Coins capped = coins({.schedule = RemdmSchedule::cap, .eta = 0.9}, kMiddle);
  EXPECT_NEAR(capped.remask, 0.5, 1e-15);
  EXPECT_NEAR(capped.reveal, 1, 1e-15);
  const Coins rescaled = coins({.schedule = RemdmSchedule::rescale, .eta = 0.2}, kMiddle);
  EXPECT_NEAR(rescaled.remask, 0.1, 1e-15);
  EXPECT_NEAR(rescaled.reveal, (0.75 - 0.9 * 0.5) / 0.5, 1e-15);
}

// sigma = (alpha_s - alpha_t)/alpha_t; a mask stays with probability (2s - t)/t.
TEST(Remdm, ForwardBackwardByHand) {
  const Coins middle =
      coins({.schedule = RemdmSchedule::forward_backward}, {.index = 4, .count = 10, .t = 0.6, .s = 0.5});
  EXPECT_NEAR(middle.remask, 0.1 / 0.4, 1e-15);
  EXPECT_NEAR(middle.reveal, 1 - 0.4 / 0.6, 1e-15);
  // One step before the end sigma is sigma_max, and masks can no longer stay.
  const Coins late =
      coins({.schedule = RemdmSchedule::forward_backward}, {.index = 8, .count = 10, .t = 0.2, .s = 0.1});
  EXPECT_NEAR(late.remask, 0.1 / 0.8, 1e-15);
  EXPECT_NEAR(late.reveal, 1, 1e-12);
}

// On a coarse grid the formula may ask for more than sigma_max = s/(1 - t).
TEST(Remdm, ForwardBackwardIsCapped) {
  const Coins c = coins({.schedule = RemdmSchedule::forward_backward}, {.index = 1, .count = 3, .t = 0.5, .s = 0.1});
  EXPECT_NEAR(c.remask, 0.2, 1e-15);
  EXPECT_NEAR(c.reveal, 1, 1e-15);
}

// Remasking at rate sigma and revealing a little more leave the marginals of the schedule: alpha_s is reached.
TEST(Remdm, MarginalsFollowTheSchedule) {
  for (RemdmOptions options : std::vector<RemdmOptions>{{.schedule = RemdmSchedule::cap, .eta = 0.2},
                                                        {.schedule = RemdmSchedule::rescale, .eta = 0.5},
                                                        {.schedule = RemdmSchedule::forward_backward}}) {
    double revealed = 0;
    const auto process = make_remdm(options);
    for (int i = 0; i < 8; ++i) {
      const Step step = kit::step_of(*process, 8, i);
      const Coins c = coins(options, step);
      revealed = revealed * (1 - c.remask) + (1 - revealed) * c.reveal;
      EXPECT_NEAR(revealed, 1 - step.s, 1e-12) << "step " << i;
    }
  }
}

TEST(Remdm, LoopHasThreePhases) {
  const RemdmOptions loop = {.schedule = RemdmSchedule::loop, .eta = 0.1, .t_on = 0.5, .t_off = 0.2, .alpha_on = 0.8};
  const Coins early = coins(loop, {.index = 1, .count = 10, .t = 0.9, .s = 0.8});  // alpha 0.16 -> 0.32
  EXPECT_EQ(early.remask, 0);
  EXPECT_NEAR(early.reveal, 0.16 / 0.84, 1e-14);
  const Coins crossing = coins(loop, {.index = 4, .count = 10, .t = 0.6, .s = 0.4});  // alpha 0.64 -> 0.8, not beyond
  EXPECT_EQ(crossing.remask, 0);
  EXPECT_NEAR(crossing.reveal, 0.16 / 0.36, 1e-14);
  const Coins frozen = coins(loop, {.index = 6, .count = 10, .t = 0.4, .s = 0.3});
  EXPECT_NEAR(frozen.remask, 0.1, 1e-15);
  EXPECT_NEAR(frozen.reveal, 0.1 * 0.8 / 0.2, 1e-14);
  const Coins late = coins(loop, {.index = 8, .count = 10, .t = 0.2, .s = 0.1});  // masks stay with s/t
  EXPECT_EQ(late.remask, 0);
  EXPECT_NEAR(late.reveal, 0.5, 1e-14);
}

TEST(Remdm, LastStepOnlyReveals) {
  for (RemdmSchedule schedule : {RemdmSchedule::cap, RemdmSchedule::rescale, RemdmSchedule::conf, RemdmSchedule::loop,
                                 RemdmSchedule::forward_backward}) {
    const Coins c = coins({.schedule = schedule, .eta = 0.1}, {.index = 3, .count = 4, .t = 0.25, .s = 0});
    EXPECT_EQ(c.remask, 0);
    EXPECT_EQ(c.reveal, 1);
  }
}

// sigma_max = 1/2 is shared by softmax(-psi): the less probable token is remasked more often.
TEST(RemdmConf, SharesTheBudgetByConfidence) {
  const auto process = make_remdm({.schedule = RemdmSchedule::conf, .filter = kPlain});
  EXPECT_TRUE(process->remembers());
  const Frame frame = kit::toy_frame(4, 2, {0});
  const State from{{0, 0, 1, 2}, {0, 0.25F, 0.75F, 0}};
  std::vector<double> remasked(4, 0.0);
  double revealed = 0;
  kit::enumerate([&](Source& s) { return process->decide(view(frame, from), kMiddle, *s.open({})); },
                 [&](const Decision& decision, double p) {
                   for (const Edit& edit : decision.ready) remasked[edit.position] += p;
                   revealed += decision.reveal.empty() ? 0 : p;
                 });
  const double share = 1 / (1 + std::exp(-0.5));
  EXPECT_EQ(remasked[0], 0);  // pinned: takes no share either
  EXPECT_NEAR(remasked[1], 0.5 * share, 1e-14);
  EXPECT_NEAR(remasked[2], 0.5 * (1 - share), 1e-14);
  EXPECT_EQ(remasked[3], 0);
  EXPECT_NEAR(revealed, 0.5, 1e-14);  // as in MDLM
}

TEST(RemdmConf, NotesAreTheProbabilitiesOfDrawing) {
  const auto process = make_remdm({.schedule = RemdmSchedule::conf, .filter = {.top_p = 0.7}});
  const Frame frame = kit::toy_frame(2, 3);
  kit::ToyDenoiser denoiser({.tokens = 3});
  const State from = kit::start_state(frame);
  const kit::StepCase at{*process, denoiser, frame, kit::step_of(*process, 2, 0)};
  for (const auto& [to, p] : at.law(from)) {
    for (Position l = 0; l < 2; ++l) {
      const Row row = subs_row(frame, *at.predict(from), l, {.top_p = 0.7});
      EXPECT_EQ(to.notes[l], to.tokens[l] == frame.mask ? 0.0F : static_cast<float>(row.prob(to.tokens[l])));
    }
  }
}

TEST(RemdmConf, AnotherNoteIsAnotherState) {
  const auto process = make_remdm({.schedule = RemdmSchedule::conf, .filter = kPlain});
  const Frame frame = kit::toy_frame(2, 2);
  kit::ToyDenoiser denoiser;
  const kit::StepCase at{*process, denoiser, frame, kMiddle};
  const State from{{0, 2}, {0.5F, 0}};
  EXPECT_TRUE(std::isfinite(at.log_prob(from, from)));
  EXPECT_EQ(at.log_prob(from, {{0, 2}, {0.25F, 0}}), -INFINITY);      // kept, yet remembered differently
  EXPECT_EQ(at.log_prob(from, {{0, 1}, {0.5F, 0.125F}}), -INFINITY);  // revealed with another probability
}

TEST(Remdm, OtherSchedulesRememberNothing) {
  EXPECT_FALSE(make_remdm({.schedule = RemdmSchedule::cap})->remembers());
  EXPECT_FALSE(make_remdm({.schedule = RemdmSchedule::loop})->remembers());
}

TEST(Remdm, RemaskOnlyStepsNeedNoPrediction) {
  const auto process = make_remdm({.schedule = RemdmSchedule::cap, .eta = 0.2});
  const Frame frame = kit::toy_frame(2, 2);
  const State full{{0, 1}, {0, 0}};
  kit::enumerate([&](Source& s) { return process->decide(view(frame, full), kMiddle, *s.open({})); },
                 [&](const Decision& decision, double) { EXPECT_FALSE(decision.needs_prediction()); });
}

TEST(Remdm, RefusesBadOptions) {
  const auto message = [](RemdmOptions options) -> std::string {
    try {
      make_remdm(options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_request ? error.what() : "another code";
    }
    return "accepted";
  };
  EXPECT_EQ(message({.eta = -0.1}), "remdm.eta is -0.1; allowed: 0 to 1");
  EXPECT_EQ(message({.eta = 2}), "remdm.eta is 2; allowed: 0 to 1");
  const RemdmSchedule loop = RemdmSchedule::loop;
  EXPECT_EQ(message({.schedule = loop, .t_on = 1}), "remdm.t_on is 1; allowed: between 0 and 1");
  EXPECT_EQ(message({.schedule = loop, .t_off = 0.6}), "remdm.t_off is 0.6; allowed: between 0 and t_on");
  EXPECT_EQ(message({.schedule = loop, .alpha_on = 1}), "remdm.alpha_on is 1; allowed: between 0 and 1");
  EXPECT_EQ(message({.schedule = loop, .eta = 0.5, .alpha_on = 0.9}).substr(0, 29), "remdm.eta is 0.5; allowed: at");
  EXPECT_EQ(message({.filter = {.top_p = 0}}), "remdm.top_p is 0; allowed: more than 0, at most 1");
}

}  // namespace
}  // namespace pgdlm
