// Processes that reveal the positions they are most confident of (LLaDA, Dream): every masked position proposes a
// token, the `count` most confident proposals are kept, ties go to the first position. Their transitions have a
// closed form. One position's row is alive at a time: a block of rows would be hundreds of megabytes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "diffusion/backward/common.h"

namespace pgdlm {

// What one masked position brings: the law of its token, and the confidence it would have in each token.
struct Ballot {
  Row row;                         // q_l
  std::vector<double> confidence;  // [vocab]; or [1], the same whatever the token; or empty: the probabilities of row

  bool depends_on_token() const { return confidence.size() != 1; }
  double confidence_in(Token v) const {
    if (confidence.empty()) return row.prob(v);
    return depends_on_token() ? confidence[v] : confidence[0];
  }
};
using Ballots = std::function<Ballot(Position)>;

inline constexpr Token kUndecided = -1;

// One proposal per candidate. Where confidence does not depend on the token, it stays kUndecided: only the tokens
// of positions that are really revealed have to be drawn then.
std::vector<Reveal> draw_proposals(std::span<const Position> candidates, const Ballots& ballots, Draws& draws);
std::vector<Reveal> best_proposals(std::span<const Position> candidates, const Ballots& ballots);

// Draws the tokens that are still undecided. A "revealed" mask changes nothing, so it is no edit.
Move to_move(StateView x, std::span<const Reveal> chosen, const Ballots& ballots, Draws& draws);
Move to_move(StateView x, std::span<const Reveal> chosen);

// `count` of the candidates, every subset equally likely.
std::vector<Position> draw_subset(std::span<const Position> candidates, int count, Draws& draws);
double log_subset_prob(int candidates, int count);

// The candidates revealed between two states; nothing if anything else differs: then the step is impossible.
std::optional<std::vector<Position>> revealed_between(StateView from, StateView to,
                                                      std::span<const Position> candidates);

// log P(S, v): the tokens v of the revealed set S are drawn, and no other candidate draws a token that outranks the
// least confident member of S. With c* = min over S of the confidence and l* the last position of S that attains it,
//   P(S, v) = prod_{l in S} q_l(v_l) * prod_{l not in S} q_l{ u : c_l(u) < c*, or c_l(u) = c* and l > l* }.
double ranked_log_prob(StateView from, StateView to, std::span<const Position> candidates, int count,
                       const Ballots& ballots);

// log P(S, v) if S is a uniformly drawn subset: 1/(number of subsets) times the probabilities of the tokens.
double subset_log_prob(StateView from, StateView to, std::span<const Position> candidates, int count,
                       const std::function<Row(Position)>& row);

}  // namespace pgdlm
