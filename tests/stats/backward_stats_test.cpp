// Draws from Philox agree with the closed-form transition probabilities where the vocabulary is too large to
// enumerate. Fixed seeds, chi-square, p < 1e-6.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "base/philox.h"
#include "kit/backward_case.h"
#include "kit/chi_square.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

constexpr int kTokens = 20;
constexpr int kDraws = 60'000;
constexpr double kAlpha = 1e-6;

struct Sampled {
  std::map<kit::State, std::int64_t> counts;
  std::map<kit::State, double> probs;
};

// Draws one step many times, and scores every outcome seen.
Sampled sample(const Backward& process, const Frame& frame, const kit::State& from, Step step, std::uint64_t seed) {
  kit::ToyDenoiser denoiser({.tokens = kTokens, .scale = 1.5, .seed = seed});
  const kit::StepCase at{process, denoiser, frame, step};
  const PredictionPtr prediction = at.predict(from);
  const StateView x = view(frame, from, step.t);
  PhiloxSource source;
  Sampled sampled;
  for (int i = 0; i < kDraws; ++i) {
    const auto draws = source.open(Key{.seed = seed}.child(static_cast<std::uint64_t>(i)));
    const Decision decision = process.decide(x, step, *draws);
    const Move move =
        decision.needs_prediction() ? process.fill(x, decision, *prediction, step, *draws) : decision.ready;
    ++sampled.counts[moved(from, move)];
  }
  for (const auto& [to, count] : sampled.counts)
    sampled.probs[to] = std::exp(*process.log_prob(x, view(frame, to, step.s), *prediction, step));
  return sampled;
}

// A cell for each outcome that is expected often enough to have been seen, one for all others, seen or not.
double p_value(const Sampled& sampled) {
  std::vector<std::int64_t> counts;
  std::vector<double> probs;
  std::int64_t rare = kDraws;
  double rare_prob = 1, mass = 0;
  for (const auto& [to, count] : sampled.counts) {
    const double p = sampled.probs.at(to);
    mass += p;
    if (p <= 0) return 0;
    if (p * kDraws < 20) continue;
    counts.push_back(count);
    probs.push_back(p);
    rare -= count;
    rare_prob -= p;
  }
  EXPECT_LE(mass, 1 + 1e-9) << "the scored outcomes have more than mass 1";
  if (rare_prob * kDraws >= 5) {
    counts.push_back(rare);
    probs.push_back(rare_prob);
  }
  return kit::chi_square(counts, probs).p_value;
}

kit::State partly(const Frame& frame) {
  kit::State state = kit::start_state(frame);
  state.tokens[0] = 7;
  state.notes[0] = 0.25F;
  return state;
}

void expect_agreement(const std::shared_ptr<const Backward>& process, Step step, std::uint64_t seed) {
  ASSERT_TRUE(process->scores_transitions());
  const Frame frame = kit::toy_frame(3, kTokens);
  EXPECT_GT(p_value(sample(*process, frame, partly(frame), step, seed)), kAlpha);
}

constexpr Step kEarly = {.index = 1, .count = 4, .t = 0.75, .s = 0.5};
constexpr Step kLast = {.index = 3, .count = 4, .t = 0.25, .s = 0};

TEST(BackwardStats, Mdlm) {
  expect_agreement(make_mdlm(), kEarly, 11);
  expect_agreement(make_mdlm(), kLast, 12);
  expect_agreement(make_mdlm({.filter = {.temperature = 0.7, .top_p = 0.5}}), kEarly, 13);
}

TEST(BackwardStats, Remdm) {
  expect_agreement(make_remdm({.schedule = RemdmSchedule::cap, .eta = 0.3}), kEarly, 21);
  expect_agreement(make_remdm({.schedule = RemdmSchedule::rescale, .eta = 0.3}), kEarly, 22);
  expect_agreement(make_remdm({.schedule = RemdmSchedule::forward_backward}), kEarly, 23);
  expect_agreement(make_remdm({.schedule = RemdmSchedule::loop, .eta = 0.1, .t_on = 0.8}), kEarly, 24);
  expect_agreement(make_remdm({.schedule = RemdmSchedule::conf}), kEarly, 25);
}

TEST(BackwardStats, Llada) {
  expect_agreement(make_llada({.block_length = 3, .temperature = 0.8}), {.index = 0, .count = 3, .t = 1, .s = 0.6}, 31);
  expect_agreement(make_llada({.block_length = 3, .remasking = Remasking::random}),
                   {.index = 0, .count = 3, .t = 1, .s = 0.6}, 32);
  expect_agreement(make_llada({.block_length = 3, .temperature = 1}), kLast, 33);
}

TEST(BackwardStats, Dream) {
  for (DreamOrder order :
       {DreamOrder::origin, DreamOrder::maskgit_plus, DreamOrder::topk_margin, DreamOrder::entropy, DreamOrder::random})
    expect_agreement(make_dream({.order = order, .filter = {.top_p = 0.9}}),
                     {.index = 1, .count = 4, .t = 0.8, .s = 0.35}, 41 + static_cast<std::uint64_t>(order));
}

// The test has teeth: a law that is a little off is seen.
TEST(BackwardStats, SeesAWrongTemperature) {
  const Frame frame = kit::toy_frame(3, kTokens);
  const auto drawn = make_mdlm({.filter = {.temperature = 0.9}});
  Sampled sampled = sample(*drawn, frame, partly(frame), kEarly, 51);
  const auto scored = make_mdlm();
  kit::ToyDenoiser denoiser({.tokens = kTokens, .scale = 1.5, .seed = 51});
  const kit::StepCase at{*scored, denoiser, frame, kEarly};
  for (auto& [to, p] : sampled.probs) p = std::exp(at.log_prob(partly(frame), to));
  EXPECT_LT(p_value(sampled), kAlpha);
}

}  // namespace
}  // namespace pgdlm
