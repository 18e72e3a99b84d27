#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "kit/backward_case.h"
#include "kit/enumerate.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using kit::State;
using kit::StepCase;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == ErrorCode::invalid_request ? error.what() : "another code";
  }
  return "accepted";
}

TEST(Llada, EveryOptionKeepsTheContract) {
  kit::ToyDenoiser two({.tokens = 2}), three({.tokens = 3, .seed = 3});
  Frame prompted = kit::toy_frame(5, 2, {}, 1), infilled = kit::toy_frame(4, 3, {2});
  prompted.eos = infilled.eos = 1;
  for (Remasking remasking : {Remasking::low_confidence, Remasking::random})
    for (double temperature : {0.0, 0.6, 1.0, 1.7})
      for (LladaOptions options : std::vector<LladaOptions>{
               {.block_length = 2},
               {.block_length = 4},
               {.block_length = 2, .logits_eos_inf = true},
               {.block_length = 4, .confidence_eos_eot_inf = true, .eot = 2},
               {.block_length = 2, .stop_at_eos = true},
               {.block_length = 0, .suppress_mask = false},
           }) {
        options.remasking = remasking;
        options.temperature = temperature;
        kit::expect_contract(*make_llada(options), two, prompted, 4);
        kit::expect_contract(*make_llada(options), three, infilled, 2);
        if (HasFailure()) return;
      }
}

// A table with many equal logits: every comparison of confidences is a tie somewhere.
class Tied final : public Denoiser {
 public:
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    const std::vector<float> table = {0, 0, 5, 1, 0, 5, 0, 0, 5, 0, 1, 5};
    return {states.size(), std::make_shared<TablePrediction>(3, table)};
  }
  int vocab() const override { return 3; }
  Token mask() const override { return 2; }
};

TEST(Llada, TiesAreScoredAsTheyAreBroken) {
  Tied denoiser;
  const Frame frame = kit::toy_frame(4, 2);
  for (double temperature : {0.5, 1.0}) {
    kit::expect_contract(*make_llada({.block_length = 4, .temperature = temperature}), denoiser, frame, 4);
    kit::expect_contract(*make_llada({.block_length = 4, .temperature = temperature}), denoiser, frame, 2);
  }
}

// Three masks, one to reveal. p = softmax, conf of the drawn token; the closed form by hand for one outcome.
TEST(Llada, LowConfidenceByHand) {
  const auto process = make_llada({.block_length = 2, .temperature = 1});
  const Frame frame = kit::toy_frame(2, 2);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 2, .t = 1, .s = 0.5};
  const auto log = [](double p) { return static_cast<float>(std::log(p)); };
  const TablePrediction prediction(3, {log(0.7), log(0.3), 0, log(0.6), log(0.4), 0});
  const auto p = [&](Token a, Token b) {
    const State to{{a, b}, {0, 0}};
    return std::exp(*process->log_prob(view(frame, from), view(frame, to), prediction, step));
  };
  EXPECT_NEAR(p(0, 2), 0.7, 1e-7);        // 0.7 beats both tokens of the other position
  EXPECT_NEAR(p(1, 2), 0, 1e-7);          // 0.3 beats neither
  EXPECT_NEAR(p(2, 0), 0.3 * 0.6, 1e-7);  // only if the first drew 0.3
  EXPECT_NEAR(p(2, 1), 0.3 * 0.4, 1e-7);
  EXPECT_NEAR(p(2, 2), 0, 1e-7);
}

TEST(Llada, TemperatureDoesNotEnterTheConfidence) {
  const auto process = make_llada({.block_length = 2, .temperature = 1e-2});
  const Frame frame = kit::toy_frame(2, 2);
  const State from = kit::start_state(frame);
  // At this temperature both positions are certain of token 0; at temperature 1 the second is surer.
  const TablePrediction prediction(3, {0.9F, 0.5F, 0, 2.0F, 0.5F, 0});
  const State to{{2, 0}, {0, 0}};
  const Step step = {.index = 0, .count = 2, .t = 1, .s = 0.5};
  EXPECT_NEAR(*process->log_prob(view(frame, from), view(frame, to), prediction, step), 0, 1e-12);
}

TEST(Llada, QuotasAreEvenWithTheRemainderFirst) {
  const auto process = make_llada({.block_length = 5});
  kit::ToyDenoiser denoiser;
  const Frame frame = kit::toy_frame(11, 2, {8}, 1);  // blocks 1..5 (5 free), 6..10 (4 free)
  process->validate(frame, 6);
  State state = kit::start_state(frame);
  std::vector<int> revealed;
  for (int i = 0; i < 6; ++i) {
    const StepCase at{*process, denoiser, frame, kit::step_of(*process, 6, i)};
    const int quota = process->greedy_quota(view(frame, state), at.step);
    const Move move = process->greedy(view(frame, state), *at.predict(state), at.step);
    EXPECT_EQ(static_cast<int>(move.size()), quota);
    for (const Edit& edit : move) EXPECT_EQ(edit.position <= 5, i < 3) << "outside the block";
    revealed.push_back(quota);
    state = moved(state, move);
  }
  EXPECT_EQ(revealed, (std::vector<int>{2, 2, 1, 2, 1, 1}));
  EXPECT_EQ(process->block_ends(frame, 6), (std::vector<int>{3, 6}));
}

TEST(Llada, MoreStepsThanMasksAreQuiet) {
  const auto process = make_llada({.block_length = 2});
  const Frame frame = kit::toy_frame(4, 2, {1});  // blocks of 1 and 2 masks, 3 steps each
  const State from{{0, 1, 2, 2}, {0, 0, 0, 0}};
  kit::ToyDenoiser denoiser;
  kit::enumerate(
      [&](Source& s) { return process->decide(view(frame, from), kit::step_of(*process, 6, 1), *s.open({})); },
      [](const Decision& decision, double) { EXPECT_TRUE(decision.quiet()); });
  kit::expect_contract(*process, denoiser, frame, 6);
}

TEST(Llada, TemperatureZeroIsDeterministicAndGreedy) {
  const auto process = make_llada({.block_length = 4, .temperature = 0});
  kit::ToyDenoiser denoiser({.tokens = 3});
  const Frame frame = kit::toy_frame(4, 3);
  const StepCase at{*process, denoiser, frame, kit::step_of(*process, 2, 0)};
  kit::for_each_state(frame, false, [&](const State& from) {
    const auto law = at.law(from);
    ASSERT_EQ(law.size(), 1u);
    EXPECT_EQ(law.begin()->first, moved(from, process->greedy(view(frame, from), *at.predict(from), at.step)));
  });
}

TEST(Llada, RandomOrderIsChosenBeforeLogits) {
  const auto process = make_llada({.block_length = 4, .remasking = Remasking::random});
  const Frame frame = kit::toy_frame(4, 2);
  const State from = kit::start_state(frame);
  std::map<std::vector<Position>, double> chosen;
  kit::enumerate(
      [&](Source& s) { return process->decide(view(frame, from), kit::step_of(*process, 2, 0), *s.open({})); },
      [&](const Decision& decision, double p) {
        EXPECT_FALSE(decision.choose);
        chosen[decision.reveal] += p;
      });
  EXPECT_EQ(chosen.size(), 6u);
  for (const auto& [set, p] : chosen) EXPECT_NEAR(p, 1.0 / 6, 1e-15);
}

TEST(Llada, EosOptionsActOnDrawsAndOnConfidence) {
  Frame frame = kit::toy_frame(2, 3);
  frame.eos = 0;
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 2, .t = 1, .s = 0.5};
  const TablePrediction eos_everywhere(4, {9, 1, 0, 0, 1, 2, 0, 0});
  const auto greedy = [&](LladaOptions options) {
    return make_llada(options)->greedy(view(frame, from), eos_everywhere, step);
  };
  EXPECT_EQ(greedy({.block_length = 2}), (Move{{.position = 0, .token = 0}}));
  EXPECT_EQ(greedy({.block_length = 2, .logits_eos_inf = true}), (Move{{.position = 1, .token = 1}}));
  EXPECT_EQ(greedy({.block_length = 2, .confidence_eos_eot_inf = true}), (Move{{.position = 1, .token = 1}}));
  // Position 0 drew EOS, position 1 drew EOT: both last, so the first position goes first.
  EXPECT_EQ(greedy({.block_length = 2, .confidence_eos_eot_inf = true, .eot = 1}), (Move{{.position = 0, .token = 0}}));
}

// The published code forgets the option's effect once tokens are drawn with noise; ours holds at any temperature.
TEST(Llada, EosIsRevealedLastAtAnyTemperature) {
  const auto process = make_llada({.block_length = 2, .temperature = 1, .confidence_eos_eot_inf = true});
  Frame frame = kit::toy_frame(2, 2);
  frame.eos = 0;
  kit::ToyDenoiser denoiser;
  const StepCase at{*process, denoiser, frame, kit::step_of(*process, 2, 0)};
  const State from = kit::start_state(frame);
  const Row first = subs_row(frame, *at.predict(from), 0), second = subs_row(frame, *at.predict(from), 1);
  double eos = 0;
  for (const auto& [to, p] : at.law(from))
    if (to.tokens[0] == 0 || to.tokens[1] == 0) eos += p;
  EXPECT_NEAR(eos, first.prob(0) * second.prob(0), 1e-14);  // only if everyone drew EOS
}

TEST(Llada, StopsAtEosWithoutAForward) {
  const auto process = make_llada({.block_length = 2, .stop_at_eos = true});
  Frame frame = kit::toy_frame(7, 2, {}, 1);
  frame.eos = 1;
  const Step second_block = kit::step_of(*process, 6, 2);
  const auto decide = [&](const State& from) {
    Decision made;
    kit::enumerate([&](Source& s) { made = process->decide(view(frame, from), second_block, *s.open({})); },
                   [](double) {});
    return made;
  };
  const State ended{{1, 0, 1, 2, 2, 2, 2}, std::vector<float>(7, 0.0F)};
  const Decision stop = decide(ended);
  EXPECT_FALSE(stop.needs_prediction());
  ASSERT_EQ(stop.ready.size(), 4u);
  for (const Edit& edit : stop.ready) EXPECT_EQ(edit.token, frame.eos);
  EXPECT_TRUE(decide(moved(ended, stop.ready)).quiet());
  // EOS in the prompt or in an unfinished block does not count.
  EXPECT_TRUE(decide({{1, 0, 0, 2, 2, 2, 2}, std::vector<float>(7, 0.0F)}).choose);
  EXPECT_TRUE(decide({{0, 0, 0, 1, 2, 2, 2}, std::vector<float>(7, 0.0F)}).needs_prediction());
  // Nor does EOS behind a mask that was left over: the text before it is not known yet.
  EXPECT_TRUE(decide({{0, 2, 1, 2, 2, 2, 2}, std::vector<float>(7, 0.0F)}).needs_prediction());
}

// Before the first EOS both laws agree: later blocks cannot change earlier ones.
TEST(Llada, StoppingAtEosKeepsTheLawOfTheText) {
  kit::ToyDenoiser denoiser({.tokens = 2, .seed = 8});
  Frame frame = kit::toy_frame(4, 2);
  frame.eos = 1;
  const auto texts = [&](bool stop) {
    std::map<std::vector<Token>, double> law;
    const auto process = make_llada({.block_length = 2, .stop_at_eos = stop});
    for (const auto& [state, p] : kit::final_law(*process, denoiser, frame, 4)) {
      auto text = state.tokens;
      text.erase(std::find(text.begin(), text.end(), frame.eos), text.end());
      law[text] += p;
    }
    return law;
  };
  EXPECT_LT(kit::total_variation(texts(true), texts(false)), 1e-14);
}

TEST(Llada, UnsuppressedMasksRevealLess) {
  const auto process = make_llada({.block_length = 2, .suppress_mask = false});
  EXPECT_FALSE(process->scores_transitions());
  const Frame frame = kit::toy_frame(2, 2);
  kit::ToyDenoiser denoiser;  // the mask has the largest logit
  const State from = kit::start_state(frame);
  const StepCase first{*process, denoiser, frame, kit::step_of(*process, 2, 0)};
  EXPECT_GT(first.law(from).at(from), 0);
  EXPECT_FALSE(process->log_prob(view(frame, from), view(frame, from), *first.predict(from), first.step).has_value());
  const StepCase last{*process, denoiser, frame, kit::step_of(*process, 2, 1)};
  EXPECT_FALSE(last.law(from).contains(from));
}

TEST(Llada, RefusesWhatDoesNotDivide) {
  const Frame frame = kit::toy_frame(10, 2, {}, 2);
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 3})->validate(frame, 8); }),
            "llada.block_length is 3; allowed: a divisor of the generated length, 8");
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 2})->validate(frame, 6); }),
            "steps is 6; allowed: a multiple of the number of blocks, 4");
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 2})->validate(frame, 0); }),
            "steps is 0; allowed: a multiple of the number of blocks, 4");
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 2})->validate(frame, 8); }), "accepted");
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 0})->validate(frame, 3); }), "accepted");
  EXPECT_EQ(message_of([&] { make_llada({.block_length = 8, .stop_at_eos = true})->validate(frame, 1); }),
            "llada.stop_at_eos is true, but eos is -1; allowed: true if the canvas names its EOS token");
}

TEST(Llada, RefusesBadOptions) {
  EXPECT_EQ(message_of([] { make_llada({.block_length = -1}); }),
            "llada.block_length is -1; allowed: 0 (one block) or more");
  EXPECT_EQ(message_of([] { make_llada({.temperature = -0.5}); }),
            "llada.temperature is -0.5; allowed: 0 or more (0: arg max)");
  EXPECT_EQ(message_of([] { make_llada({.eot = -2}); }), "llada.eot is -2; allowed: a token id, or -1 for none");
}

}  // namespace
}  // namespace pgdlm
