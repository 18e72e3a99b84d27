#include "diffusion/backward/common.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "base/exp_sum.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Keeps the most probable tokens as the filter says and sets the others to 0. A heap gives them in order without
// sorting the whole vocabulary: a nucleus is usually small.
void keep_nucleus(std::vector<double>& probs, const Filter& filter) {
  std::vector<Token> heap(probs.size());
  for (Token v = 0; v < static_cast<Token>(probs.size()); ++v) heap[v] = v;
  const auto less_likely = [&](Token a, Token b) { return probs[a] != probs[b] ? probs[a] < probs[b] : a > b; };
  std::make_heap(heap.begin(), heap.end(), less_likely);

  const int limit = filter.top_k > 0 ? filter.top_k : static_cast<int>(probs.size());
  std::vector<std::pair<Token, double>> kept;
  double before = 0;
  while (!heap.empty() && static_cast<int>(kept.size()) < limit) {
    std::pop_heap(heap.begin(), heap.end(), less_likely);
    const Token v = heap.back();
    heap.pop_back();
    const double reached = filter.nucleus == Nucleus::usual ? before : before + probs[v];
    if (!kept.empty() && filter.top_p < 1 && reached > filter.top_p) break;
    kept.emplace_back(v, probs[v]);
    before += probs[v];
  }
  std::fill(probs.begin(), probs.end(), 0.0);
  for (const auto& [v, p] : kept) probs[v] = p / before;
}

// The vocabulary without its banned tokens.
struct Stretch {
  std::size_t first, count;
};
std::vector<Stretch> stretches(Token vocab, std::span<const Token> banned) {
  std::vector<Token> walls(banned.begin(), banned.end());
  std::erase_if(walls, [vocab](Token v) { return v < 0 || v >= vocab; });
  walls.push_back(vocab);
  std::sort(walls.begin(), walls.end());
  std::vector<Stretch> allowed;
  Token first = 0;
  for (const Token wall : walls) {
    if (wall > first) allowed.push_back({static_cast<std::size_t>(first), static_cast<std::size_t>(wall - first)});
    first = wall + 1;
  }
  return allowed;
}

}  // namespace

Row::Row(std::span<const float> logits, std::span<const Token> banned, const Filter& filter) : weights_(logits.size()) {
  // Banned tokens are left out, not subtracted: a large mask logit must not cost the others their precision.
  const std::vector<Stretch> allowed = stretches(static_cast<Token>(logits.size()), banned);
  Top top{-std::numeric_limits<float>::infinity(), false};
  for (const auto& [first, count] : allowed) {
    const Top here = top_of(logits.subspan(first, count));
    top = {std::max(top.value, here.value), top.nan || here.nan};
  }
  if (top.nan || !std::isfinite(top.value))
    throw Error(ErrorCode::bad_model, "no token can be drawn: the logits of a position are NaN or infinite");
  if (filter.temperature == 0) {
    for (const auto& [first, count] : allowed) {
      const auto here = logits.subspan(first, count);
      const auto found = std::find(here.begin(), here.end(), top.value);
      if (found == here.end()) continue;
      weights_[first + static_cast<std::size_t>(found - here.begin())] = 1;
      return;
    }
  }
  double sum = 0;
  for (const auto& [first, count] : allowed)
    sum += exp_and_sum(logits.subspan(first, count), static_cast<double>(top.value), 1 / filter.temperature,
                       std::span(weights_).subspan(first, count));
  unit_ = 1 / sum;
  if (filter.top_p == 1 && filter.top_k == 0) return;
  weights_ = probs();
  unit_ = 1;
  keep_nucleus(weights_, filter);
}

std::vector<double> Row::probs() const {
  std::vector<double> probs = weights_;
  scale_all(probs, unit_);
  return probs;
}

Token Row::best() const {
  return static_cast<Token>(std::max_element(weights_.begin(), weights_.end()) - weights_.begin());
}

Token Row::draw(Draws& draws) const {
  const auto possible = [](double w) { return w > 0; };
  const auto first = std::find_if(weights_.begin(), weights_.end(), possible);
  if (std::find_if(first + 1, weights_.end(), possible) == weights_.end())
    return static_cast<Token>(first - weights_.begin());
  return draws.categorical(weights_);
}

Row subs_row(const Frame& frame, const Prediction& prediction, Position l, const Filter& filter) {
  return Row(prediction.logits(l), std::span(&frame.mask, 1), filter);
}

std::vector<Position> masks_of(StateView x) {
  std::vector<Position> positions;
  for (Position l = 0; l < x.frame.length(); ++l)
    if (x.masked(l)) positions.push_back(l);
  return positions;
}

int masked_count(StateView x) {
  int count = 0;
  for (Position l = 0; l < x.frame.length(); ++l) count += x.masked(l) ? 1 : 0;
  return count;
}

int free_count(const Frame& frame) { return static_cast<int>(std::count(frame.pinned.begin(), frame.pinned.end(), 0)); }

std::vector<Reveal> most_confident(std::vector<Reveal> guesses, int count) {
  std::stable_sort(guesses.begin(), guesses.end(), [](const Reveal& a, const Reveal& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.position < b.position;
  });
  guesses.resize(std::min(guesses.size(), static_cast<std::size_t>(std::max(count, 0))));
  std::sort(guesses.begin(), guesses.end(), [](const Reveal& a, const Reveal& b) { return a.position < b.position; });
  return guesses;
}

std::vector<Reveal> best_guesses(StateView x, const Prediction& prediction, std::span<const Position> positions) {
  std::vector<Reveal> guesses;
  for (Position l : positions) {
    const Row row = subs_row(x.frame, prediction, l);
    const Token token = row.best();
    guesses.push_back({l, token, row.prob(token)});
  }
  return guesses;
}

std::vector<Position> flip_reveals(StateView x, double reveal, Draws& draws) {
  std::vector<Position> revealed;
  for (Position l = 0; l < x.frame.length(); ++l)
    if (x.masked(l) && draws.coin(reveal)) revealed.push_back(l);
  return revealed;
}

Move draw_tokens(StateView x, const Decision& decision, const Prediction& prediction, const Filter& filter,
                 Draws& draws) {
  Move move = decision.ready;
  for (Position l : decision.reveal)
    move.push_back({.position = l, .token = subs_row(x.frame, prediction, l, filter).draw(draws)});
  return move;
}

double independent_log_prob(StateView from, StateView to, const Prediction& prediction, double reveal,
                            const Filter& filter) {
  double log_p = 0;
  for (Position l = 0; l < from.frame.length(); ++l) {
    if (!from.masked(l)) {
      if (to.tokens[l] != from.tokens[l]) return -kInfinity;
    } else if (to.masked(l)) {
      log_p += std::log(1 - reveal);
    } else {
      log_p += std::log(reveal) + std::log(subs_row(from.frame, prediction, l, filter).prob(to.tokens[l]));
    }
  }
  return log_p;
}

void require_option(bool holds, std::string_view field, double value, std::string_view allowed) {
  if (holds) return;
  char number[32];
  std::snprintf(number, sizeof number, "%.12g", value);
  throw Error(ErrorCode::invalid_request, std::string(field) + " is " + number + "; allowed: " + std::string(allowed));
}

void require_filter(std::string_view process, const Filter& filter) {
  const std::string prefix = std::string(process) + ".";
  require_option(filter.temperature >= 0 && std::isfinite(filter.temperature), prefix + "temperature",
                 filter.temperature, "0 or more (0: arg max)");
  require_option(filter.top_p > 0 && filter.top_p <= 1, prefix + "top_p", filter.top_p, "more than 0, at most 1");
  require_option(filter.top_k >= 0, prefix + "top_k", filter.top_k, "0 (all tokens) or more");
}

}  // namespace pgdlm
