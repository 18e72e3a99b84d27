// A backward process of your own: denoising from left to right, like an ordinary language model. Which positions are
// revealed needs no logits and no coins; their tokens are drawn from the prediction. It scores its transitions, so
// ancestor sampling works with it, and it passes the conformance suite.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "pgdlm/conformance.h"
#include "pgdlm/engine.h"
#include "pgdlm/processes.h"

using namespace pgdlm;

class LeftToRight final : public Backward {
 public:
  Decision decide(StateView x, Step step, Draws&) const override { return {.reveal = next(x, step)}; }

  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step, Draws& draws) const override {
    Move move;
    for (Position l : decision.reveal)
      move.push_back({.position = l, .token = draws.categorical(probs(x.frame, prediction, l))});
    return move;
  }

  int greedy_quota(StateView x, Step step) const override { return static_cast<int>(next(x, step).size()); }
  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    Move move;
    for (Position l : next(x, step)) {
      const std::vector<double> p = probs(x.frame, prediction, l);
      move.push_back({.position = l, .token = static_cast<Token>(std::ranges::max_element(p) - p.begin())});
    }
    return move;
  }

  // Everything that was to be revealed is, and nothing else has changed: then the tokens' probabilities multiply.
  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    const std::vector<Position> revealed = next(from, step);
    double log_p = 0;
    for (Position l = 0; l < from.frame.length(); ++l) {
      if (std::ranges::find(revealed, l) == revealed.end()) {
        if (to.tokens[l] != from.tokens[l]) return -std::numeric_limits<double>::infinity();
      } else {
        const Token v = to.tokens[l];
        log_p += v >= 0 && v < from.frame.vocab ? std::log(probs(from.frame, prediction, l)[v])
                                                : -std::numeric_limits<double>::infinity();
      }
    }
    return log_p;
  }
  bool scores_transitions() const override { return true; }

 private:
  // The leftmost masks, dealt evenly to the steps that are left.
  static std::vector<Position> next(StateView x, Step step) {
    std::vector<Position> masks;
    for (Position l = 0; l < x.frame.length(); ++l)
      if (x.masked(l)) masks.push_back(l);
    const std::size_t steps_left = static_cast<std::size_t>(step.count - step.index);
    masks.resize((masks.size() + steps_left - 1) / steps_left);
    return masks;
  }

  // softmax of the logits without the mask, which may or may not be one of them.
  static std::vector<double> probs(const Frame& frame, const Prediction& prediction, Position l) {
    const std::span<const float> logits = prediction.logits(l);
    std::vector<double> p(logits.begin(), logits.end());
    if (frame.mask >= 0 && frame.mask < frame.vocab) p[frame.mask] = -std::numeric_limits<double>::infinity();
    const double top = *std::ranges::max_element(p);
    double sum = 0;
    for (double& v : p) sum += v = std::exp(v - top);
    for (double& v : p) v /= sum;
    return p;
  }
};

// Digits 0 to 3; each likes to be one more than the digit before it, beginning anew after 3.
struct Rows final : Prediction {
  std::vector<float> rows;  // [length, 4]
  std::span<const float> logits(Position l) const override { return std::span(rows).subspan(std::size_t(l) * 4, 4); }
  std::size_t bytes() const override { return rows.size() * sizeof(float); }
};
struct Counting final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<PredictionPtr> predictions;
    for (const StateView& x : states) {
      auto rows = std::make_shared<Rows>();
      for (Position l = 0; l < x.frame.length(); ++l)
        for (Token v = 0; v < vocab(); ++v) {
          const bool known = l > 0 && x.tokens[l - 1] != mask();
          rows->rows.push_back(known && v == (x.tokens[l - 1] + 1) % 4 ? 1.0F : 0.0F);
        }
      predictions.push_back(rows);
    }
    return predictions;
  }
  int vocab() const override { return 4; }
  Token mask() const override { return 4; }
};

// Once round without a slip: how many digits are one more than the digit before.
struct Unbroken final : Reward {
  std::vector<double> score(std::span<const Candidate> texts) override {
    std::vector<double> scores;
    for (const Candidate& text : texts) {
      double good = 0;
      for (std::size_t i = 1; i < text.tokens.size(); ++i) good += text.tokens[i] == (text.tokens[i - 1] + 1) % 4;
      scores.push_back(good);
    }
    return scores;
  }
};

int main() {
  const auto process = std::make_shared<LeftToRight>();
  const auto denoiser = std::make_shared<Counting>();
  // Small, with a given token among the masks: then the same moves are drawn again and again, and frequencies say much.
  const std::vector<std::string> wrong =
      check_backward(*process, *denoiser, {.tokens = {0, 4, 4, 2, 4}, .prompt = 1}, 2);
  for (const std::string& violation : wrong) std::printf("violation: %s\n", violation.c_str());
  std::printf("conformance: %zu violations\n", wrong.size());

  Engine engine(denoiser, {});
  Request request{.steps = 12, .process = process, .reward = std::make_shared<Unbroken>(), .seed = 5};
  request.canvas.tokens.assign(12, denoiser->mask());
  request.settings = preset(Preset::exact, Method::particle_gibbs);
  request.settings.plan.beta = 0.5;
  request.settings.plan.ancestor_sampling = true;
  const Answer answer = engine.generate(request);
  for (Token v : answer.tokens) std::printf("%d ", v);
  std::printf("  reward %.0f of 11, %d sweeps, %lld forwards\n", answer.reward, answer.sweeps,
              static_cast<long long>(answer.cost.forwards_run));
  return wrong.empty() && answer.reward >= 8 ? 0 : 1;
}
