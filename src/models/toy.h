// The toy: film reviews from a Markov chain over some sixty words, so small that its denoiser is exact. Between the
// nearest revealed words u on the left and w on the right, d and e positions away, a position holds v with
// probability P^d(u, v) P^e(v, w) / P^(d+e)(u, w); <s> stands before the canvas and </s> behind it. Revealing one
// position at a time, in any order, therefore samples the chain itself, conditioned on what is given.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

struct ToyChain;

// Immutable; copies share the chain. Any thread.
class ToyModel {
 public:
  static constexpr int kMaxLength = 512;  // positions of a canvas

  ToyModel();

  std::shared_ptr<Denoiser> denoiser() const;
  // Null if it is none of `reward_names`.
  std::shared_ptr<Reward> reward(std::string_view name) const;
  static std::vector<std::string> reward_names() { return {"positive", "negative"}; }

  // Words are separated by white space or attached punctuation, case is ignored. An unknown word is an Error
  // that names the field it came from.
  std::vector<Token> encode(std::string_view text, std::string_view field = "prompt") const;
  // Up to the first </s>.
  std::string decode(std::span<const Token> tokens) const;

  Token mask() const;
  Token eos() const;
  const std::vector<std::string>& words() const;  // [vocab], </s> and [MASK] included

  double start(Token first) const;                // P(<s>, first)
  double transition(Token from, Token to) const;  // P(from, to), positive for all words

 private:
  std::shared_ptr<const ToyChain> chain_;
};

}  // namespace pgdlm
