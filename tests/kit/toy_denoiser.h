// Toy denoisers and rewards: tables without symmetry, small enough to be enumerated. A table entry is a hash of
// (seed, whole sequence, position, token), so every state has its own prediction and nothing cancels by accident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm::kit {

// A number in [0, 1), the same for equal arguments on every machine.
double toy_uniform(std::uint64_t seed, std::span<const Token> tokens, std::uint64_t label);

// A frame of `length` positions whose vocabulary is 0..tokens-1 with the mask behind it. `pinned` lists positions.
Frame toy_frame(int length, int tokens, std::vector<Position> pinned = {}, int prompt = 0);

// The state before denoising: masks everywhere but at the pinned positions, which hold token (position % tokens).
std::vector<Token> toy_canvas(const Frame& frame);

struct ToyDenoiserOptions {
  int tokens = 2;             // real tokens, 0..tokens-1
  bool mask_in_vocab = true;  // the mask has a logit too (a large one: SUBS has to remove it); its id is `tokens`
  bool time_dependent = false;
  double scale = 2;  // logits lie in [-scale, scale)
  std::uint64_t seed = 1;
};

class ToyDenoiser final : public Denoiser {
 public:
  explicit ToyDenoiser(ToyDenoiserOptions options = {}) : options_(options) {}

  std::vector<PredictionPtr> predict(std::span<const StateView> states) override;
  int vocab() const override { return options_.tokens + (options_.mask_in_vocab ? 1 : 0); }
  Token mask() const override { return options_.tokens; }
  bool time_dependent() const override { return options_.time_dependent; }

  std::int64_t states_run() const { return states_run_; }
  std::int64_t batches_run() const { return batches_run_; }

 private:
  ToyDenoiserOptions options_;
  std::int64_t states_run_ = 0;
  std::int64_t batches_run_ = 0;
};

struct ToyRewardOptions {
  double scale = 1;                 // rewards lie in [-scale, scale)
  int forbidden_one_in = 0;         // about one text in so many scores -inf; 0: none
  bool prefixes = false;            // accepts prefixes, too
  std::vector<Token> nan_for = {};  // this very text scores NaN
  std::uint64_t seed = 2;
};

class ToyReward final : public Reward {
 public:
  explicit ToyReward(ToyRewardOptions options = {}) : options_(std::move(options)) {}

  std::vector<double> score(std::span<const Candidate> candidates) override;
  bool accepts_prefixes() const override { return options_.prefixes; }

  double of(std::span<const Token> tokens) const;  // the table itself; not counted
  std::int64_t texts_run() const { return texts_run_; }

 private:
  ToyRewardOptions options_;
  std::int64_t texts_run_ = 0;
};

}  // namespace pgdlm::kit
