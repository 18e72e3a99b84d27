// One step of a backward process from one state, enumerated: its law, and everything the contract of Backward says.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kit/toy_denoiser.h"
#include "pgdlm/plugin.h"

namespace pgdlm::kit {

// A canvas that owns what a StateView points to.
struct State {
  std::vector<Token> tokens;
  std::vector<float> notes;
  friend auto operator<=>(const State&, const State&) = default;
};
using StateLaw = std::map<State, double>;

StateView view(const Frame& frame, const State& state, double time = 1);
State start_state(const Frame& frame);
State moved(State state, const Move& move);
Step step_of(const Backward& process, int steps, int index);

// Every state of the free positions; with notes (made up, in (0, 1)) at revealed positions if the process remembers.
void for_each_state(const Frame& frame, bool notes, const std::function<void(const State&)>& visit);

struct StepCase {
  const Backward& process;
  Denoiser& denoiser;
  const Frame& frame;
  Step step;

  PredictionPtr predict(const State& from) const;
  StateLaw law(const State& from) const;  // enumerated: decide, then fill; checks each move against the contract
  double log_prob(const State& from, const State& to) const;
};

// The law of the whole trajectory's end, T steps from the start.
StateLaw final_law(const Backward& process, Denoiser& denoiser, const Frame& frame, int steps);

// The contract in full, from every state at every step: moves are legal, the law has mass 1, log_prob is its
// logarithm to 1e-12 (and -inf elsewhere, so that it sums to 1), no mask survives the last step, the greedy move
// is possible. GoogleTest failures name the state.
void expect_contract(const Backward& process, Denoiser& denoiser, const Frame& frame, int steps);

}  // namespace pgdlm::kit
