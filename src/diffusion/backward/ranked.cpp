#include "diffusion/backward/ranked.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pgdlm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<Reveal> draw_proposals(std::span<const Position> candidates, const Ballots& ballots, Draws& draws) {
  std::vector<Reveal> proposals;
  for (Position l : candidates) {
    const Ballot ballot = ballots(l);
    const Token token = ballot.depends_on_token() ? ballot.row.draw(draws) : kUndecided;
    proposals.push_back({l, token, ballot.confidence_in(token)});
  }
  return proposals;
}

std::vector<Reveal> best_proposals(std::span<const Position> candidates, const Ballots& ballots) {
  std::vector<Reveal> proposals;
  for (Position l : candidates) {
    const Ballot ballot = ballots(l);
    const Token token = ballot.row.best();
    proposals.push_back({l, token, ballot.confidence_in(token)});
  }
  return proposals;
}

Move to_move(StateView x, std::span<const Reveal> chosen, const Ballots& ballots, Draws& draws) {
  std::vector<Reveal> decided(chosen.begin(), chosen.end());
  for (Reveal& reveal : decided)
    if (reveal.token == kUndecided) reveal.token = ballots(reveal.position).row.draw(draws);
  return to_move(x, decided);
}

Move to_move(StateView x, std::span<const Reveal> chosen) {
  Move move;
  for (const Reveal& reveal : chosen) {
    PGDLM_CHECK(reveal.token != kUndecided);
    if (reveal.token != x.frame.mask) move.push_back({.position = reveal.position, .token = reveal.token});
  }
  return move;
}

// Selection sampling: one coin per candidate, and each subset has exactly one sequence of coins.
std::vector<Position> draw_subset(std::span<const Position> candidates, int count, Draws& draws) {
  std::vector<Position> subset;
  int left = static_cast<int>(candidates.size());
  for (Position l : candidates) {
    const int wanted = count - static_cast<int>(subset.size());
    if (draws.coin(static_cast<double>(wanted) / left)) subset.push_back(l);
    --left;
  }
  return subset;
}

double log_subset_prob(int candidates, int count) {
  double log_p = 0;
  for (int i = 0; i < count; ++i) log_p += std::log(i + 1.0) - std::log(static_cast<double>(candidates - i));
  return log_p;
}

std::optional<std::vector<Position>> revealed_between(StateView from, StateView to,
                                                      std::span<const Position> candidates) {
  std::vector<Position> revealed;
  for (Position l = 0; l < from.frame.length(); ++l) {
    if (from.tokens[l] == to.tokens[l]) continue;
    if (!std::binary_search(candidates.begin(), candidates.end(), l)) return std::nullopt;
    revealed.push_back(l);
  }
  return revealed;
}

double ranked_log_prob(StateView from, StateView to, std::span<const Position> candidates, int count,
                       const Ballots& ballots) {
  const auto revealed = revealed_between(from, to, candidates);
  if (!revealed || static_cast<int>(revealed->size()) != count) return -kInfinity;

  double log_p = 0;
  double least = kInfinity;  // c*
  Position last = -1;        // l*
  for (Position l : *revealed) {
    const Ballot ballot = ballots(l);
    const double q = ballot.row.prob(to.tokens[l]);
    if (q <= 0) return -kInfinity;
    log_p += std::log(q);
    const double confidence = ballot.confidence_in(to.tokens[l]);
    if (confidence <= least) {
      least = confidence;
      last = l;
    }
  }
  for (Position l : candidates) {
    if (std::binary_search(revealed->begin(), revealed->end(), l)) continue;
    const Ballot ballot = ballots(l);
    const std::vector<double> q = ballot.row.probs();
    double outranked = 0, outranking = 0;
    for (Token v = 0; v < static_cast<Token>(q.size()); ++v) {
      const double confidence = ballot.confidence_in(v);
      (confidence < least || (confidence == least && l > last) ? outranked : outranking) += q[v];
    }
    log_p += outranking == 0 ? 0 : std::log(outranked);  // a certain event is certain to the last bit
  }
  return log_p;
}

double subset_log_prob(StateView from, StateView to, std::span<const Position> candidates, int count,
                       const std::function<Row(Position)>& row) {
  const auto revealed = revealed_between(from, to, candidates);
  if (!revealed || static_cast<int>(revealed->size()) != count) return -kInfinity;
  double log_p = log_subset_prob(static_cast<int>(candidates.size()), count);
  for (Position l : *revealed) log_p += std::log(row(l).prob(to.tokens[l]));
  return log_p;
}

}  // namespace pgdlm
