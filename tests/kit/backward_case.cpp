#include "kit/backward_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "diffusion/backward/common.h"
#include "kit/enumerate.h"

namespace pgdlm::kit {
namespace {

std::string describe(const State& state, Step step) {
  std::ostringstream out;
  out << "step " << step.index << " of " << step.count << ", state";
  for (Token v : state.tokens) out << ' ' << v;
  return out.str();
}

void expect_legal(const Frame& frame, const State& from, const Decision& decision, const Move& move) {
  std::set<Position> touched;
  for (const Edit& edit : move) {
    ASSERT_GE(edit.position, 0);
    ASSERT_LT(edit.position, frame.length());
    EXPECT_FALSE(frame.pinned[edit.position]) << "pinned position edited";
    EXPECT_TRUE(touched.insert(edit.position).second) << "edited twice";
    EXPECT_NE(edit.token, from.tokens[edit.position]) << "an edit that changes nothing";
    EXPECT_TRUE(edit.token == frame.mask || (edit.token >= 0 && edit.token < frame.vocab));
    const bool known = decision.choose || touched.size() <= decision.ready.size() + decision.reveal.size();
    EXPECT_TRUE(known) << "more edits than decided";
  }
}

void expect_greedy_possible(const StepCase& at, const State& from, const StateLaw& law) {
  const StateView x = view(at.frame, from, at.step.t);
  State to = from;
  const int quota = at.process.greedy_quota(x, at.step);
  EXPECT_GE(quota, 0);
  if (quota > 0) {
    const Move move = at.process.greedy(x, *at.predict(from), at.step);
    EXPECT_LE(static_cast<int>(move.size()), quota);
    to = moved(from, move);
  }
  EXPECT_TRUE(law.contains(to)) << "the greedy move is impossible";
}

void expect_scored(const StepCase& at, const State& from, const StateLaw& law) {
  const PredictionPtr prediction = at.predict(from);
  const auto log_prob = [&](const State& to) {
    return at.process.log_prob(view(at.frame, from, at.step.t), view(at.frame, to, at.step.s), *prediction, at.step)
        .value();
  };
  double mass = 0;
  for (const auto& [to, p] : law) {
    const double scored = std::exp(log_prob(to));
    EXPECT_NEAR(scored, p, 1e-12);
    mass += scored;
  }
  EXPECT_NEAR(mass, 1, 1e-12);
  // What was not drawn is impossible. (Made-up notes are no outcome of a process that remembers.)
  for_each_state(at.frame, at.process.remembers(), [&](const State& to) {
    EXPECT_TRUE(law.contains(to) || log_prob(to) == -std::numeric_limits<double>::infinity());
  });
}

}  // namespace

StateView view(const Frame& frame, const State& state, double time) {
  return {.frame = frame, .tokens = state.tokens, .notes = state.notes, .time = time};
}

State start_state(const Frame& frame) { return {toy_canvas(frame), std::vector<float>(frame.pinned.size(), 0.0F)}; }

State moved(State state, const Move& move) {
  for (const Edit& edit : move) {
    state.tokens[edit.position] = edit.token;
    state.notes[edit.position] = edit.note;
  }
  return state;
}

Step step_of(const Backward& process, int steps, int index) {
  const std::vector<double> times = process.times(steps);
  return {.index = index, .count = static_cast<int>(times.size()) - 1, .t = times[index], .s = times[index + 1]};
}

void for_each_state(const Frame& frame, bool notes, const std::function<void(const State&)>& visit) {
  State state = start_state(frame);
  for (Position l = 0; l < frame.length(); ++l)
    if (!frame.pinned[l]) state.tokens[l] = 0;
  while (true) {
    State noted = state;
    for (Position l = 0; notes && l < frame.length(); ++l)
      if (!frame.pinned[l] && state.tokens[l] != frame.mask)
        noted.notes[l] = static_cast<float>(toy_uniform(99, state.tokens, static_cast<std::uint64_t>(l)));
    visit(noted);
    Position l = 0;  // the next one, counting in base mask + 1
    while (l < frame.length() && (frame.pinned[l] || state.tokens[l] == frame.mask)) {
      if (!frame.pinned[l]) state.tokens[l] = 0;
      ++l;
    }
    if (l == frame.length()) return;
    ++state.tokens[l];
  }
}

PredictionPtr StepCase::predict(const State& from) const {
  const StateView x = view(frame, from, step.t);
  return denoiser.predict(std::span(&x, 1)).front();
}

StateLaw StepCase::law(const State& from) const {
  const PredictionPtr prediction = predict(from);
  const StateView x = view(frame, from, step.t);
  return law_of([&](Source& source) {
    const auto draws = source.open(Key{});
    const Decision decision = process.decide(x, step, *draws);
    Move move = decision.ready;
    if (decision.needs_prediction()) move = process.fill(x, decision, *prediction, step, *draws);
    expect_legal(frame, from, decision, move);
    return moved(from, move);
  });
}

double StepCase::log_prob(const State& from, const State& to) const {
  const auto log_p = process.log_prob(view(frame, from, step.t), view(frame, to, step.s), *predict(from), step);
  EXPECT_TRUE(log_p.has_value());
  return log_p.value_or(NAN);
}

StateLaw final_law(const Backward& process, Denoiser& denoiser, const Frame& frame, int steps) {
  StateLaw law = {{start_state(frame), 1.0}};
  const int updates = static_cast<int>(process.times(steps).size()) - 1;
  for (int i = 0; i < updates; ++i) {
    const StepCase at{process, denoiser, frame, step_of(process, steps, i)};
    StateLaw next;
    for (const auto& [from, p] : law)
      for (const auto& [to, q] : at.law(from)) next[to] += p * q;
    law = std::move(next);
  }
  return law;
}

void expect_contract(const Backward& process, Denoiser& denoiser, const Frame& frame, int steps) {
  process.validate(frame, steps);
  const int updates = static_cast<int>(process.times(steps).size()) - 1;
  EXPECT_EQ(process.block_ends(frame, steps).back(), updates);
  for (int i = 0; i < updates; ++i) {
    const StepCase at{process, denoiser, frame, step_of(process, steps, i)};
    for_each_state(frame, process.remembers(), [&](const State& from) {
      SCOPED_TRACE(describe(from, at.step));
      const StateLaw law = at.law(from);
      EXPECT_NEAR(total_mass(law), 1, 1e-12);
      for (const auto& [to, p] : law) EXPECT_TRUE(!at.step.last() || masked_count(view(frame, to)) == 0);
      expect_greedy_possible(at, from, law);
      if (process.scores_transitions()) expect_scored(at, from, law);
    });
    if (::testing::Test::HasFailure()) return;  // one state says it all
  }
}

}  // namespace pgdlm::kit
