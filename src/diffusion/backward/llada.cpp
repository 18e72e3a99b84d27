#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "diffusion/backward/ranked.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where a step is: its block [begin, end), and the how manieth of the block's steps it is.
struct Window {
  Position begin = 0, end = 0;
  int index = 0, steps = 1;
};

class Llada final : public Backward {
 public:
  explicit Llada(LladaOptions options) : options_(options) {}

  Decision decide(StateView x, Step step, Draws& draws) const override {
    Decision decision;
    if (finished(x, step)) {
      decision.ready = fill_with_eos(x);
      return decision;
    }
    const auto candidates = candidates_of(x, step);
    const int count = quota(x, step);
    if (options_.remasking == Remasking::random)
      decision.reveal = draw_subset(candidates, count, draws);
    else if (count == static_cast<int>(candidates.size()))
      decision.reveal = candidates;  // nothing to choose
    else
      decision.choose = count > 0;
    return decision;
  }

  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
            Draws& draws) const override {
    if (decision.choose) {
      const Ballots ballots = ballots_of(x, prediction, step);
      const auto proposals = draw_proposals(candidates_of(x, step), ballots, draws);
      return to_move(x, most_confident(proposals, quota(x, step)));
    }
    std::vector<Reveal> reveals;
    for (Position l : decision.reveal) reveals.push_back({l, row(x, prediction, l, step).draw(draws)});
    Move move = to_move(x, reveals);
    move.insert(move.begin(), decision.ready.begin(), decision.ready.end());
    return move;
  }

  int greedy_quota(StateView x, Step step) const override {
    return finished(x, step) ? masked_count(x) : quota(x, step);
  }

  // Also under random order the greedy path takes the surest positions: every order is possible there.
  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    if (finished(x, step)) return fill_with_eos(x);
    const auto proposals = best_proposals(candidates_of(x, step), ballots_of(x, prediction, step));
    return to_move(x, most_confident(proposals, quota(x, step)));
  }

  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    if (!scores_transitions()) return std::nullopt;
    if (finished(from, step)) return log_prob_finished(from, to);
    const auto candidates = candidates_of(from, step);
    const int count = quota(from, step);
    if (options_.remasking == Remasking::low_confidence)
      return ranked_log_prob(from, to, candidates, count, ballots_of(from, prediction, step));
    return subset_log_prob(from, to, candidates, count, [&](Position l) { return row(from, prediction, l, step); });
  }
  // A mask that is drawn leaves no trace in the state, so without suppression a transition hides what was chosen.
  bool scores_transitions() const override { return options_.suppress_mask; }
  Position horizon(StateView x, Step step) const override { return window(x.frame, step).end; }
  bool deterministic() const override {
    return options_.temperature == 0 && options_.remasking == Remasking::low_confidence;
  }

  std::vector<int> block_ends(const Frame& frame, int steps) const override {
    std::vector<int> ends;
    const int blocks = block_count(frame);
    for (int b = 1; b <= blocks; ++b) ends.push_back(steps / blocks * b);
    ends.back() = steps;
    return ends;
  }

  void validate(const Frame& frame, int steps) const override {
    const int generated = frame.length() - frame.prompt;
    require_option(generated % block_length(frame) == 0, "llada.block_length", options_.block_length,
                   "a divisor of the generated length, " + std::to_string(generated));
    const int blocks = block_count(frame);
    require_option(steps > 0 && steps % blocks == 0, "steps", steps,
                   "a multiple of the number of blocks, " + std::to_string(blocks));
    const bool needs_eos = options_.logits_eos_inf || options_.stop_at_eos;
    if (needs_eos && frame.eos < 0)
      throw Error(ErrorCode::invalid_request,
                  std::string(options_.stop_at_eos ? "llada.stop_at_eos" : "llada.logits_eos_inf") +
                      " is true, but eos is -1; allowed: true if the canvas names its EOS token");
  }

 private:
  int block_length(const Frame& frame) const {
    return options_.block_length > 0 ? options_.block_length : std::max(1, frame.length() - frame.prompt);
  }

  int block_count(const Frame& frame) const {
    const int generated = frame.length() - frame.prompt;
    const int length = block_length(frame);
    return std::max(1, (generated + length - 1) / length);
  }

  Window window(const Frame& frame, Step step) const {
    const int blocks = block_count(frame);
    const int length = block_length(frame);
    const int steps = std::max(1, step.count / blocks);
    const int block = std::min(step.index / steps, blocks - 1);
    return {.begin = block == 0 ? 0 : frame.prompt + block * length,
            .end = block + 1 == blocks ? frame.length() : frame.prompt + (block + 1) * length,
            .index = step.index - block * steps,
            .steps = steps};
  }

  // Masks of the block, and masks that earlier blocks may have left (see suppress_mask).
  std::vector<Position> candidates_of(StateView x, Step step) const {
    std::vector<Position> candidates = masks_of(x);
    std::erase_if(candidates, [end = window(x.frame, step).end](Position l) { return l >= end; });
    return candidates;
  }

  // The block's positions are dealt evenly to its steps, the remainder to the first ones.
  int quota(StateView x, Step step) const {
    const Window here = window(x.frame, step);
    const int candidates = static_cast<int>(candidates_of(x, step).size());
    if (step.last()) return candidates;
    const auto first = x.frame.pinned.begin();
    const int free = static_cast<int>(std::count(first + here.begin, first + here.end, 0));
    const int share = free / here.steps + (here.index < free % here.steps ? 1 : 0);
    return std::min(share, candidates);
  }

  bool finished(StateView x, Step step) const {
    if (!options_.stop_at_eos) return false;
    bool ended = false;
    for (Position l = 0; l < window(x.frame, step).begin; ++l) {
      if (x.masked(l)) return false;
      if (!x.frame.pinned[l] && x.tokens[l] == x.frame.eos) ended = true;
    }
    return ended;
  }

  static Move fill_with_eos(StateView x) {
    Move move;
    for (Position l : masks_of(x)) move.push_back({.position = l, .token = x.frame.eos});
    return move;
  }

  static double log_prob_finished(StateView from, StateView to) {
    for (Position l = 0; l < from.frame.length(); ++l)
      if (to.tokens[l] != (from.masked(l) ? from.frame.eos : from.tokens[l])) return -kInfinity;
    return 0;
  }

  Row row(StateView x, const Prediction& prediction, Position l, Step step) const {
    return row(x, prediction, l, step, options_.temperature);
  }
  Row row(StateView x, const Prediction& prediction, Position l, Step step, double temperature) const {
    // The last step has to leave no mask, whatever the options say.
    const Token banned[] = {options_.suppress_mask || step.last() ? x.frame.mask : Token{-1},
                            options_.logits_eos_inf ? x.frame.eos : Token{-1}};
    return Row(prediction.logits(l), banned, {.temperature = temperature});
  }

  // The confidence in a token is its probability at temperature 1, in double.
  Ballots ballots_of(StateView x, const Prediction& prediction, Step step) const {
    return [this, x, &prediction, step](Position l) {
      Ballot ballot{row(x, prediction, l, step), {}};
      if (options_.temperature == 1 && !options_.confidence_eos_eot_inf) return ballot;
      ballot.confidence = row(x, prediction, l, step, 1).probs();
      if (options_.confidence_eos_eot_inf)
        for (Token v : {x.frame.eos, options_.eot})
          if (v >= 0 && v < static_cast<Token>(ballot.confidence.size())) ballot.confidence[v] = -kInfinity;
      return ballot;
    };
  }

  LladaOptions options_;
};

}  // namespace

std::shared_ptr<const Backward> make_llada(LladaOptions options) {
  require_filter("llada", {.temperature = options.temperature});
  require_option(options.block_length >= 0, "llada.block_length", options.block_length, "0 (one block) or more");
  require_option(options.eot >= -1, "llada.eot", options.eot, "a token id, or -1 for none");
  return std::make_shared<Llada>(options);
}

std::optional<Remasking> find_remasking(std::string_view name) {
  if (name == "low_confidence") return Remasking::low_confidence;
  if (name == "random") return Remasking::random;
  return std::nullopt;
}

}  // namespace pgdlm
