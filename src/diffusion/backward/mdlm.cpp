#include <algorithm>
#include <cmath>

#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

class Mdlm final : public Backward {
 public:
  explicit Mdlm(MdlmOptions options) : options_(options) {}

  Decision decide(StateView x, Step step, Draws& draws) const override {
    return {.reveal = flip_reveals(x, reveal_prob(step), draws)};
  }

  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step, Draws& draws) const override {
    return draw_tokens(x, decision, prediction, options_.filter, draws);
  }

  // As many masks are left at time s as are expected of a random path.
  int greedy_quota(StateView x, Step step) const override {
    const int left = step.last() ? 0 : static_cast<int>(std::lround(free_count(x.frame) * step.s));
    return std::max(0, masked_count(x) - left);
  }

  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    Move move;
    const auto guesses = best_guesses(x, prediction, masks_of(x));
    for (const Reveal& guess : most_confident(guesses, greedy_quota(x, step)))
      move.push_back({.position = guess.position, .token = guess.token});
    return move;
  }

  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    return independent_log_prob(from, to, prediction, reveal_prob(step), options_.filter);
  }
  bool scores_transitions() const override { return true; }

  std::vector<double> times(int steps) const override {
    if (!options_.fk_grid) return Backward::times(steps);
    constexpr double kLastTime = 1e-5;
    std::vector<double> grid;
    for (int i = 0; i <= steps; ++i) grid.push_back(1 - i * (1 - kLastTime) / steps);
    grid.push_back(0);
    return grid;
  }

 private:
  // The last step has s = 0: whatever is left is sampled, not taken by arg max.
  static double reveal_prob(Step step) { return step.last() ? 1.0 : 1 - step.s / step.t; }

  MdlmOptions options_;
};

}  // namespace

std::shared_ptr<const Backward> make_mdlm(MdlmOptions options) {
  require_filter("mdlm", options.filter);
  return std::make_shared<Mdlm>(options);
}

}  // namespace pgdlm
