// What the backward processes share: the distribution of one position's token, coins that need no logits, and the
// check of an option. Pure functions of their arguments; any thread.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pgdlm/processes.h"

namespace pgdlm {

// The distribution of the token of one position: banned tokens out (the SUBS rule bans the mask), softmax in double
// at the filter's temperature, then the filter, renormalised.
class Row {
 public:
  // Throws Error{bad_model} if no distribution is left (NaN, +inf, or nothing but -inf).
  Row(std::span<const float> logits, std::span<const Token> banned, const Filter& filter = {});

  double prob(Token v) const {  // 0 for what is no token of this vocabulary
    return v >= 0 && v < static_cast<Token>(weights_.size()) ? weights_[v] * unit_ : 0.0;
  }
  std::vector<double> probs() const;  // [vocab]
  Token best() const;                 // the arg max; the lowest id among equals
  Token draw(Draws&) const;           // a certain outcome costs no draw

 private:
  std::vector<double> weights_;  // most rows are asked for one or two probabilities: the others stay as they are
  double unit_ = 1;              // what a weight of 1 is worth
};

// The SUBS distribution of a position: the mask is never drawn.
Row subs_row(const Frame& frame, const Prediction& prediction, Position l, const Filter& filter = {});

std::vector<Position> masks_of(StateView x);
int masked_count(StateView x);
int free_count(const Frame& frame);  // positions that are not pinned

// A position that may be revealed, its token, and how sure the process is of it.
struct Reveal {
  Position position = 0;
  Token token = 0;
  double confidence = 0;
};

// The `count` most confident ones, in order of position. Among equals the first position wins.
std::vector<Reveal> most_confident(std::vector<Reveal> guesses, int count);

// The arg max tokens of these positions, with their probabilities (temperature 1, no filter) as confidence.
std::vector<Reveal> best_guesses(StateView x, const Prediction& prediction, std::span<const Position> positions);

// Independent reveals, the law of MDLM and of Dream's `origin`: each masked position is revealed with probability
// `reveal` and then draws its token from its row (Eq. 2 with (alpha_s - alpha_t)/(1 - alpha_t) = reveal).
std::vector<Position> flip_reveals(StateView x, double reveal, Draws& draws);
Move draw_tokens(StateView x, const Decision& decision, const Prediction& prediction, const Filter& filter,
                 Draws& draws);
double independent_log_prob(StateView from, StateView to, const Prediction& prediction, double reveal,
                            const Filter& filter);

// Throws Error{invalid_request}: "<field> is <value>; allowed: <allowed>".
void require_option(bool holds, std::string_view field, double value, std::string_view allowed);
void require_filter(std::string_view process, const Filter& filter);

}  // namespace pgdlm
