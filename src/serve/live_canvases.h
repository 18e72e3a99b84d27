// What the particles of a run look like at the moment, from its live events: the most promising canvas, and which part
// of the text is certain although the run goes on. Pure.
//
// Certain is the longest beginning without a mask that all particles share: where tokens are never taken back and there
// is one sweep, every later particle descends from one of these.
#pragma once

#include <limits>
#include <vector>

#include "pgdlm/events.h"

namespace pgdlm::serve {

class LiveCanvases {
 public:
  // `keeps`: the process takes no token back, and the answer is a particle of the only sweep.
  LiveCanvases(std::vector<Token> canvas, int prompt, Token mask, int particles, bool keeps);

  void apply(const Event& event);

  int leader() const { return leader_; }  // the slot of the highest weight
  const std::vector<Token>& canvas(int slot) const { return canvases_[static_cast<std::size_t>(slot)]; }
  double value(int slot) const;  // what its text is thought to be worth; NaN: nobody has looked yet

  int certain() const { return certain_; }  // positions behind the prompt; never fewer than before
  const std::vector<Token>& certain_tokens() const { return certain_tokens_; }  // prompt included

 private:
  void on(const Drafted& drafted);
  void on(const Weighed& weighed);
  void on(const Resampled& resampled);
  void on(const Selected& selected);
  void on(const auto&) {}
  void extend();
  void make_room(std::size_t particles);  // sweeps may differ in size

  std::vector<Token> initial_;
  int prompt_;
  Token mask_;
  bool keeps_;
  int leader_ = 0, certain_ = 0;
  std::vector<std::vector<Token>> canvases_;  // by slot
  std::vector<double> values_;
  std::vector<Token> certain_tokens_;
};

}  // namespace pgdlm::serve
