#include "diffusion/completion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "diffusion/backward/common.h"

namespace pgdlm {
namespace {

// The likeliest tokens of one position.
struct Ranked {
  std::vector<Token> tokens;
  std::vector<double> log_probs;
};

Ranked rank(std::span<const double> probs, int most) {
  if (most == 1) {  // the usual case needs no order
    const auto best = std::max_element(probs.begin(), probs.end());
    return {{static_cast<Token>(best - probs.begin())}, {std::log(*best)}};
  }
  std::vector<Token> order(probs.size());
  std::iota(order.begin(), order.end(), 0);
  const auto top = std::min<std::size_t>(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                    [&](Token a, Token b) { return probs[a] != probs[b] ? probs[a] > probs[b] : a < b; });
  Ranked ranked;
  for (std::size_t i = 0; i < top && probs[order[i]] > 0; ++i) {
    ranked.tokens.push_back(order[i]);
    ranked.log_probs.push_back(std::log(probs[order[i]]));
  }
  return ranked;
}

// One rank per position. Each vector has one parent (lower the last non-zero rank), so none is met twice.
struct Choice {
  double log_prob;
  std::vector<int> ranks;
  std::size_t last;                                          // index of the last raised rank
  friend bool operator<(const Choice& a, const Choice& b) {  // for a queue whose top is the best
    return a.log_prob != b.log_prob ? a.log_prob < b.log_prob : a.ranks > b.ranks;
  }
};

}  // namespace

std::vector<Token> sample_completion(StateView state, const Prediction& prediction, Draws& draws) {
  std::vector<Token> x0(state.tokens.begin(), state.tokens.end());
  for (Position l : masks_of(state)) x0[l] = subs_row(state.frame, prediction, l).draw(draws);
  return x0;
}

std::vector<std::vector<Token>> best_completions(StateView state, const Prediction& prediction, int phi) {
  const std::vector<Position> masked = masks_of(state);
  std::vector<Ranked> ranked;
  double log_prob = 0;
  for (Position l : masked) {
    ranked.push_back(rank(subs_row(state.frame, prediction, l).probs(), phi));
    log_prob += ranked.back().log_probs[0];
  }

  std::priority_queue<Choice> queue;
  queue.push({log_prob, std::vector<int>(masked.size(), 0), 0});
  std::vector<std::vector<Token>> best;
  while (!queue.empty() && static_cast<int>(best.size()) < phi) {
    const Choice choice = queue.top();
    queue.pop();
    std::vector<Token> x0(state.tokens.begin(), state.tokens.end());
    for (std::size_t i = 0; i < masked.size(); ++i) x0[masked[i]] = ranked[i].tokens[choice.ranks[i]];
    best.push_back(std::move(x0));

    for (std::size_t i = choice.last; i < masked.size(); ++i) {
      const auto raised = static_cast<std::size_t>(choice.ranks[i]) + 1;
      if (raised >= ranked[i].tokens.size()) continue;
      Choice next = choice;
      next.log_prob += ranked[i].log_probs[raised] - ranked[i].log_probs[raised - 1];
      next.ranks[i] = static_cast<int>(raised);
      next.last = i;
      queue.push(std::move(next));
    }
  }
  return best;
}

Move sample_ahead(StateView state, const Prediction& prediction, int left, Draws& draws) {
  const Decision decision{.reveal = flip_reveals(state, 1.0 / left, draws)};
  return draw_tokens(state, decision, prediction, {}, draws);
}

Move surest_ahead(StateView state, const Prediction& prediction, int left) {
  const std::vector<Position> masked = masks_of(state);
  const int count = (static_cast<int>(masked.size()) + left - 1) / left;
  Move move;
  for (const Reveal& r : most_confident(best_guesses(state, prediction, masked), count))
    move.push_back({r.position, r.token, 0});
  return move;
}

}  // namespace pgdlm
