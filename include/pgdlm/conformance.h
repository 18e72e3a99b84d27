// One suite for every Denoiser, Backward and Reward, ours and yours: it asks, draws and compares, and says in plain
// words which sentence of plugin.h does not hold. An empty list means that nothing was found. Each kind of violation is
// reported once, with the first case that shows it; what a plugin throws is a violation too. No test framework needed:
//
//   for (const std::string& wrong : pgdlm::check_reward(my_reward, texts)) std::puts(wrong.c_str());
//
// A plugin is used by the calling thread alone. Same arguments, same findings: all draws come from options.seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pgdlm/plugin.h"
#include "pgdlm/request.h"

namespace pgdlm {

struct ConformanceOptions {
  std::uint64_t seed = 1;
  int states = 16;        // denoiser: states to predict
  int paths = 8;          // backward: trajectories from the canvas to the end
  int scored_states = 8;  // backward: states from which draws are compared with log_prob, spread over the steps
  int draws = 20'000;     // backward: moves drawn from each of them
  double tolerance = 0;   // by how much a logit or a reward may depend on the batch; 0: not by one bit
};

// States are made from the canvas: pinned positions stay, the others are masked or hold arbitrary tokens.
// One prediction per state, of the right sizes, with logits that are finite or -inf and allow some token besides the
// mask; the same alone and in a batch, in any order and mix of lengths, when asked again, whatever notes, time (unless
// time_dependent) and pins are; and still the same after later calls.
std::vector<std::string> check_denoiser(Denoiser&, const Canvas&, ConformanceOptions = {});

// A conformant denoiser, and `steps` that the process is meant to accept.
// validate() accepts; times() run from 1 to 0; block_ends() increase to the last step; moves are legal, what was
// decided and nothing else, a function of state and draws, and leave no mask at the end; so does the greedy path, which
// is possible; log_prob is the logarithm of the frequencies of draws (a chi-square test at p < 1e-6).
std::vector<std::string> check_backward(const Backward&, Denoiser&, const Canvas&, int steps, ConformanceOptions = {});

// Complete texts to score, whose first `prompt` tokens are the prompt: give it a few, as different as they come.
// One score per text, never NaN nor +inf; the same alone and in a batch, in any order, when asked again; and likewise
// for all prefixes of the texts if the reward accepts them.
std::vector<std::string> check_reward(Reward&, std::span<const std::vector<Token>> texts, int prompt = 0,
                                      ConformanceOptions = {});

}  // namespace pgdlm
