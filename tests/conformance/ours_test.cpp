// Everything that comes with pgdlm keeps the contracts of plugin.h.
#include <gtest/gtest.h>

#include "conformance/expect.h"
#include "diffusion/guidance.h"
#include "diffusion/schedule.h"
#include "kit/processes.h"
#include "kit/toy_denoiser.h"
#include "models/toy.h"
#include "pgdlm/conformance.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

using kit::NamedProcess;

// A prompt, gaps, and a given token between them.
Canvas toy_canvas(int tokens) {
  const Token m = tokens;
  return {.tokens = {0, 1, m, m, 0, m, m}, .prompt = 2};
}

Canvas review(const ToyModel& model, int length) {
  Canvas canvas{.tokens = model.encode("the movie"), .prompt = 2, .eos = model.eos()};
  canvas.tokens.resize(canvas.tokens.size() + static_cast<std::size_t>(length), model.mask());
  return canvas;
}

// ---- processes ----

// On a canvas of the process's own size, and between pinned tokens: one before, one in the middle, one behind.
Canvas bare(const NamedProcess& p, Token mask) {
  return {.tokens = std::vector<Token>(static_cast<std::size_t>(p.length), mask)};
}
Canvas infilled(const NamedProcess& p, Token mask) {
  Canvas canvas{.tokens = {1}, .prompt = 1};
  for (int l = 0; l < p.length; ++l) {
    if (l == 1) canvas.tokens.push_back(0);
    canvas.tokens.push_back(mask);
  }
  return canvas;
}

class Processes : public testing::TestWithParam<NamedProcess> {};

TEST_P(Processes, KeepTheContract) {
  kit::ToyDenoiser denoiser({.tokens = 3});
  const NamedProcess& p = GetParam();
  EXPECT_THAT(check_backward(*p.process, denoiser, bare(p, denoiser.mask()), p.steps), conformant());
}

TEST_P(Processes, KeepTheContractWithATimeDependentDenoiser) {
  kit::ToyDenoiser denoiser({.tokens = 2, .mask_in_vocab = false, .time_dependent = true});
  const NamedProcess& p = GetParam();
  EXPECT_THAT(check_backward(*p.process, denoiser, bare(p, denoiser.mask()), 2 * p.steps, {.draws = 5'000}),
              conformant());
}

INSTANTIATE_TEST_SUITE_P(Ours, Processes, testing::ValuesIn(kit::law_processes()),
                         [](const auto& info) { return info.param.name; });

bool accepts(const Backward& process, const Frame& frame, int steps) {
  try {
    process.validate(frame, steps);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Processes, KeepTheContractBetweenGivenTokens) {
  kit::ToyDenoiser denoiser({.tokens = 2});
  int checked = 0;
  for (const NamedProcess& p : kit::law_processes()) {
    const Canvas canvas = infilled(p, denoiser.mask());
    if (!accepts(*p.process, make_frame(canvas, denoiser), 6)) continue;  // blocks that do not divide it
    EXPECT_THAT(check_backward(*p.process, denoiser, canvas, 6, {.draws = 5'000}), conformant()) << p.name;
    ++checked;
  }
  EXPECT_GE(checked, 12);
  for (const Remasking order : {Remasking::low_confidence, Remasking::random}) {
    const auto process = make_llada({.block_length = 0, .remasking = order});
    EXPECT_THAT(check_backward(*process, denoiser, toy_canvas(2), 3), conformant());
  }
}

TEST(Processes, KeepTheContractAsTheCommandLineOffersThem) {
  const ToyModel model;
  const auto denoiser = model.denoiser();
  const ConformanceOptions few{.paths = 3, .scored_states = 4, .draws = 1'000};
  const auto processes = {make_mdlm(), make_mdlm({.fk_grid = true}), make_remdm(), make_llada({.block_length = 4}),
                          make_dream()};
  for (const auto& process : processes)
    EXPECT_THAT(check_backward(*process, *denoiser, review(model, 8), 8, few), conformant());
}

TEST(Processes, KeepTheContractWithEveryOption) {
  kit::ToyDenoiser denoiser({.tokens = 3});
  Canvas canvas{.tokens = {1, 3, 3, 3, 3}, .prompt = 1, .eos = 0};
  const auto processes = {
      make_mdlm({.filter = {.temperature = 0}}),
      make_mdlm({.filter = {.temperature = 0.5, .top_k = 2}}),
      make_remdm({.eta = 1}),
      make_llada({.block_length = 2, .temperature = 0}),
      make_llada({.block_length = 2, .suppress_mask = false}),
      make_llada({.block_length = 2, .logits_eos_inf = true}),
      make_llada({.block_length = 2, .confidence_eos_eot_inf = true, .eot = 2}),
      make_llada({.block_length = 2, .remasking = Remasking::random, .stop_at_eos = true}),
      make_dream({.order = DreamOrder::random}),
      make_dream({.filter = {.temperature = 0}}),
      make_dream({.order = DreamOrder::topk_margin, .alg_temp = 0.3}),
  };
  int number = 0;
  for (const auto& process : processes)
    EXPECT_THAT(check_backward(*process, denoiser, canvas, 4), conformant()) << "process " << number++;
}

// ---- denoisers ----

TEST(Denoisers, OfTheKitKeepTheContract) {
  for (const bool mask_in_vocab : {false, true})
    for (const bool time_dependent : {false, true}) {
      kit::ToyDenoiser denoiser({.tokens = 3, .mask_in_vocab = mask_in_vocab, .time_dependent = time_dependent});
      EXPECT_THAT(check_denoiser(denoiser, toy_canvas(3)), conformant());
    }
}

TEST(Denoisers, TheToyModelKeepsTheContract) {
  const ToyModel model;
  EXPECT_THAT(check_denoiser(*model.denoiser(), review(model, 12)), conformant());
}

TEST(Denoisers, GuidanceKeepsTheContract) {
  const ToyModel model;
  EXPECT_THAT(check_denoiser(*make_guided(model.denoiser(), 1.5), review(model, 8)), conformant());
  EXPECT_THAT(check_denoiser(*make_guided(std::make_shared<kit::ToyDenoiser>(), 0), toy_canvas(2)), conformant());
}

// ---- rewards ----

TEST(Rewards, OfTheKitKeepTheContract) {
  const std::vector<std::vector<Token>> texts = {{0, 1, 0}, {1, 1, 1}, {0, 0}, {1}, {2, 1, 0, 1}};
  for (const bool prefixes : {false, true}) {
    kit::ToyReward reward({.forbidden_one_in = 2, .prefixes = prefixes});
    EXPECT_THAT(check_reward(reward, texts), conformant());
  }
}

TEST(Rewards, OfTheToyModelKeepTheContract) {
  const ToyModel model;
  std::vector<std::vector<Token>> texts;
  for (const char* text : {"the movie was great.", "the movie was a mess and the plot felt long.", "i hated it."})
    texts.push_back(model.encode(text));
  texts.back().push_back(model.eos());
  for (const char* name : {"positive", "negative"})
    EXPECT_THAT(check_reward(*model.reward(name), texts, 1), conformant()) << name;
}

}  // namespace
}  // namespace pgdlm
