#include <algorithm>
#include <cmath>
#include <limits>

#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

// Rates are quotients: a coin that is certain may miss 1 by rounding.
constexpr double kCertain = 1 - 1e-12;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One step's coins. `remask` is per position for `conf`, then it is the budget the positions share.
struct Rates {
  double reveal = 0;
  double remask = 0;
};

double reveal_rate(double alpha_t, double alpha_s, double sigma) {
  return std::clamp((alpha_s - (1 - sigma) * alpha_t) / (1 - alpha_t), 0.0, 1.0);
}

class Remdm final : public Backward {
 public:
  explicit Remdm(RemdmOptions options) : options_(options) {}

  Decision decide(StateView x, Step step, Draws& draws) const override {
    const double reveal = rates(step).reveal;
    const std::vector<double> remask = remask_probs(x, step);
    Decision decision;
    for (Position l = 0; l < x.frame.length(); ++l) {
      if (x.masked(l)) {
        if (draws.coin(reveal)) decision.reveal.push_back(l);
      } else if (draws.coin(remask[l])) {
        decision.ready.push_back({.position = l, .token = x.frame.mask});
      }
    }
    return decision;
  }

  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step, Draws& draws) const override {
    Move move = decision.ready;
    for (Position l : decision.reveal) {
      const Row row = subs_row(x.frame, prediction, l, options_.filter);
      const Token token = row.draw(draws);
      move.push_back({.position = l, .token = token, .note = note(row, token)});
    }
    return move;
  }

  // Counts edits: where remasking is certain, the greedy path has to remask, too.
  int greedy_quota(StateView x, Step step) const override {
    const GreedyPlan plan = greedy_plan(x, step);
    return plan.reveals + static_cast<int>(plan.remasked.size());
  }

  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    const GreedyPlan plan = greedy_plan(x, step);
    Move move = plan.remasked;
    const auto guesses = best_guesses(x, prediction, masks_of(x));
    for (const Reveal& guess : most_confident(guesses, plan.reveals)) {
      const Row row = subs_row(x.frame, prediction, guess.position, options_.filter);
      move.push_back({.position = guess.position, .token = guess.token, .note = note(row, guess.token)});
    }
    return move;
  }

  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    const double reveal = rates(step).reveal;
    const std::vector<double> remask = remask_probs(from, step);
    double log_p = 0;
    for (Position l = 0; l < from.frame.length() && log_p > -kInfinity; ++l)
      log_p += from.masked(l) ? log_reveal(from, to, prediction, l, reveal) : log_keep(from, to, l, remask[l]);
    return log_p;
  }
  bool scores_transitions() const override { return true; }

  bool remembers() const override { return options_.schedule == RemdmSchedule::conf; }

 private:
  struct GreedyPlan {
    Move remasked;  // where remasking is certain
    int reveals = 0;
  };

  // The share of revealed tokens the schedule wants at a time.
  double alpha(double time) const {
    if (options_.schedule != RemdmSchedule::loop) return 1 - time;
    if (time > options_.t_on) return (1 - time) * options_.alpha_on / (1 - options_.t_on);
    if (time > options_.t_off) return options_.alpha_on;
    return 1 - time * (1 - options_.alpha_on) / options_.t_off;
  }

  Rates rates(Step step) const {
    if (step.last()) return {.reveal = 1, .remask = 0};
    const double alpha_t = alpha(step.t), alpha_s = alpha(step.s);
    // Nothing is revealed at alpha_t = 0, so there any sigma would do; 1 keeps the formulas free of 0/0.
    const double sigma_max = alpha_t > 0 ? std::min(1.0, (1 - alpha_s) / alpha_t) : 1.0;
    switch (options_.schedule) {
      case RemdmSchedule::cap: {
        const double sigma = std::min(options_.eta, sigma_max);
        return {reveal_rate(alpha_t, alpha_s, sigma), sigma};
      }
      case RemdmSchedule::rescale: {
        const double sigma = options_.eta * sigma_max;
        return {reveal_rate(alpha_t, alpha_s, sigma), sigma};
      }
      case RemdmSchedule::conf:  // sigma is 0 at masked positions, so they are revealed as in MDLM
        return {reveal_rate(alpha_t, alpha_s, 0), sigma_max};
      case RemdmSchedule::forward_backward: {
        const double sigma = alpha_t > 0 ? std::min((alpha_s - alpha_t) / alpha_t, sigma_max) : 1.0;
        return {reveal_rate(alpha_t, alpha_s, sigma), sigma};
      }
      case RemdmSchedule::loop: break;
    }
    // The time at which a step begins decides its phase; while alpha is frozen, reveals replace what is remasked.
    const bool looping = step.t <= options_.t_on && step.t > options_.t_off;
    if (!looping) return {reveal_rate(alpha_t, alpha_s, 0), 0};
    return {reveal_rate(options_.alpha_on, options_.alpha_on, options_.eta), options_.eta};
  }

  // Per position; 0 where there is nothing to remask.
  std::vector<double> remask_probs(StateView x, Step step) const {
    const double remask = rates(step).remask;
    std::vector<double> probs(x.tokens.size(), 0.0);
    double sum = 0;
    for (Position l = 0; l < x.frame.length(); ++l) {
      if (x.frame.pinned[l] || x.masked(l)) continue;
      probs[l] = remembers() ? std::exp(-static_cast<double>(x.notes[l])) : 1.0;  // notes lie in [0, 1]
      sum += probs[l];
    }
    for (double& p : probs) p = remembers() && sum > 0 ? remask * (p / sum) : remask * p;
    return probs;
  }

  // As many masks are left at time s as the schedule wants, as far as certain coins allow.
  GreedyPlan greedy_plan(StateView x, Step step) const {
    GreedyPlan plan;
    const std::vector<double> remask = remask_probs(x, step);
    for (Position l = 0; l < x.frame.length(); ++l)
      if (remask[l] >= kCertain) plan.remasked.push_back({.position = l, .token = x.frame.mask});
    const int masked = masked_count(x);
    const double reveal = rates(step).reveal;
    const int left = static_cast<int>(std::lround(free_count(x.frame) * (1 - alpha(step.s))));
    plan.reveals = std::clamp(masked + static_cast<int>(plan.remasked.size()) - left, 0, masked);
    if (reveal >= kCertain) plan.reveals = masked;
    if (reveal <= 1 - kCertain) plan.reveals = 0;
    return plan;
  }

  float note(const Row& row, Token token) const { return remembers() ? static_cast<float>(row.prob(token)) : 0.0F; }

  double log_reveal(StateView from, StateView to, const Prediction& prediction, Position l, double reveal) const {
    if (to.masked(l)) return std::log(1 - reveal);
    const Row row = subs_row(from.frame, prediction, l, options_.filter);
    const Token token = to.tokens[l];
    if (remembers() && to.notes[l] != note(row, token)) return -kInfinity;  // notes are part of the state
    return std::log(reveal) + std::log(row.prob(token));
  }

  double log_keep(StateView from, StateView to, Position l, double remask) const {
    if (to.masked(l)) return std::log(remask);
    if (to.tokens[l] != from.tokens[l]) return -kInfinity;  // a token never becomes another one in one step
    if (remembers() && to.notes[l] != from.notes[l]) return -kInfinity;
    return std::log(1 - remask);
  }

  RemdmOptions options_;
};

}  // namespace

std::shared_ptr<const Backward> make_remdm(RemdmOptions options) {
  require_filter("remdm", options.filter);
  require_option(options.eta >= 0 && options.eta <= 1, "remdm.eta", options.eta, "0 to 1");
  if (options.schedule == RemdmSchedule::loop) {
    require_option(options.t_on > 0 && options.t_on < 1, "remdm.t_on", options.t_on, "between 0 and 1");
    require_option(options.t_off > 0 && options.t_off < options.t_on, "remdm.t_off", options.t_off,
                   "between 0 and t_on");
    require_option(options.alpha_on > 0 && options.alpha_on < 1, "remdm.alpha_on", options.alpha_on, "between 0 and 1");
    require_option(options.eta * options.alpha_on <= 1 - options.alpha_on, "remdm.eta", options.eta,
                   "at most (1 - alpha_on)/alpha_on, so that reveals can replace what is remasked");
  }
  return std::make_shared<Remdm>(options);
}

}  // namespace pgdlm
