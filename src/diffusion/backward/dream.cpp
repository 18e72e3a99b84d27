#include <algorithm>
#include <cmath>
#include <limits>

#include "diffusion/backward/ranked.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

double negative_entropy(std::span<const double> probs) {
  double sum = 0;
  for (double p : probs)
    if (p > 0) sum += p * std::log(p);
  return sum;
}

double margin(std::span<const double> probs) {
  double first = 0, second = 0;
  for (double p : probs) {
    second = std::max(second, std::min(p, first));
    first = std::max(first, p);
  }
  return first - second;
}

// Positions one after the other from softmax(confidence/temperature) over those not yet taken.
std::vector<Reveal> draw_by_confidence(std::vector<Reveal> proposals, int count, double temperature, Draws& draws) {
  std::vector<Reveal> chosen;
  while (static_cast<int>(chosen.size()) < count) {
    double top = -std::numeric_limits<double>::infinity();
    for (const Reveal& proposal : proposals) top = std::max(top, proposal.confidence);
    std::vector<double> weights;
    for (const Reveal& proposal : proposals) weights.push_back(std::exp((proposal.confidence - top) / temperature));
    const int taken = proposals.size() == 1 ? 0 : draws.categorical(weights);
    chosen.push_back(proposals[taken]);
    proposals.erase(proposals.begin() + taken);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Reveal& a, const Reveal& b) { return a.position < b.position; });
  return chosen;
}

class Dream final : public Backward {
 public:
  explicit Dream(DreamOptions options) : options_(options) {}

  Decision decide(StateView x, Step step, Draws& draws) const override {
    if (options_.order == DreamOrder::origin) return {.reveal = flip_reveals(x, reveal_prob(step), draws)};
    Decision decision;
    const int count = quota(x, step);
    if (options_.order == DreamOrder::random)
      decision.reveal = draw_subset(masks_of(x), count, draws);
    else if (count == masked_count(x))
      decision.reveal = masks_of(x);  // nothing to choose
    else
      decision.choose = count > 0;
    return decision;
  }

  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
            Draws& draws) const override {
    if (!decision.choose) return draw_tokens(x, decision, prediction, options_.filter, draws);
    const Ballots ballots = ballots_of(x, prediction);
    const auto proposals = draw_proposals(masks_of(x), ballots, draws);
    const int count = quota(x, step);
    const auto chosen = options_.alg_temp > 0 ? draw_by_confidence(proposals, count, options_.alg_temp, draws)
                                              : most_confident(proposals, count);
    return to_move(x, chosen, ballots, draws);
  }

  int greedy_quota(StateView x, Step step) const override {
    if (options_.order != DreamOrder::origin) return quota(x, step);
    // As MDLM: as many masks are left at time s as are expected of a random path.
    const int left = step.last() ? 0 : static_cast<int>(std::lround(free_count(x.frame) * step.s));
    return std::max(0, masked_count(x) - left);
  }

  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    const auto proposals = best_proposals(masks_of(x), ballots_of(x, prediction));
    return to_move(x, most_confident(proposals, greedy_quota(x, step)));
  }

  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    if (!scores_transitions()) return std::nullopt;
    if (options_.order == DreamOrder::origin)
      return independent_log_prob(from, to, prediction, reveal_prob(step), options_.filter);
    if (options_.order == DreamOrder::random)
      return subset_log_prob(from, to, masks_of(from), quota(from, step),
                             [&](Position l) { return subs_row(from.frame, prediction, l, options_.filter); });
    return ranked_log_prob(from, to, masks_of(from), quota(from, step), ballots_of(from, prediction));
  }
  // With alg_temp the probability of a set is a sum over the orders in which it may be drawn.
  bool scores_transitions() const override { return options_.alg_temp == 0; }
  bool deterministic() const override {
    const bool fixed_order = options_.order != DreamOrder::origin && options_.order != DreamOrder::random;
    return options_.filter.temperature == 0 && fixed_order && options_.alg_temp == 0;
  }

  std::vector<double> times(int steps) const override {
    std::vector<double> grid;
    for (int i = 0; i < steps; ++i) grid.push_back(1 - i * (1 - options_.eps) / steps);
    grid.push_back(0);
    return grid;
  }

 private:
  static double reveal_prob(Step step) { return step.last() ? 1.0 : 1 - step.s / step.t; }

  static int quota(StateView x, Step step) {
    const int masked = masked_count(x);
    if (step.last()) return masked;
    constexpr double kRounding = 1e-9;  // 3 (1 - 2/3) is one position, not none
    return static_cast<int>(std::floor(masked * reveal_prob(step) + kRounding));
  }

  Ballots ballots_of(StateView x, const Prediction& prediction) const {
    return [this, x, &prediction](Position l) {
      Ballot ballot{subs_row(x.frame, prediction, l, options_.filter), {}};
      // At temperature 0 the row is certain of its token; the confidences come from the distribution behind it.
      const bool certain = options_.filter.temperature == 0;
      Filter soft = options_.filter;
      soft.temperature = 1;
      const Row row = certain ? subs_row(x.frame, prediction, l, soft) : ballot.row;
      switch (options_.order) {
        case DreamOrder::origin:  // the greedy paths of the orders without a confidence
        case DreamOrder::random:
        case DreamOrder::maskgit_plus: ballot.confidence = row.probs(); break;
        case DreamOrder::topk_margin: ballot.confidence = {margin(row.probs())}; break;
        case DreamOrder::entropy: ballot.confidence = {negative_entropy(row.probs())}; break;
      }
      return ballot;
    };
  }

  DreamOptions options_;
};

}  // namespace

std::shared_ptr<const Backward> make_dream(DreamOptions options) {
  require_filter("dream", options.filter);
  require_option(options.alg_temp >= 0 && std::isfinite(options.alg_temp), "dream.alg_temp", options.alg_temp,
                 "0 (the most confident) or more");
  const bool ranks = options.order != DreamOrder::origin && options.order != DreamOrder::random;
  require_option(ranks || options.alg_temp == 0, "dream.alg_temp", options.alg_temp,
                 "0 with the orders origin and random, which do not rank positions");
  require_option(options.eps > 0 && options.eps < 1, "dream.eps", options.eps, "between 0 and 1");
  return std::make_shared<Dream>(options);
}

}  // namespace pgdlm
