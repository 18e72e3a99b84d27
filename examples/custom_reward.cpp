// A reward of your own. It forbids texts (-inf), and it can judge the beginning of an unfinished text, so the engine
// need not complete a canvas before it asks: the same target, fewer forwards.
//
// Eight dice are thrown. No two neighbours may show the same number; the more often the numbers rise, the better.
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include "pgdlm/conformance.h"
#include "pgdlm/engine.h"
#include "pgdlm/processes.h"

using namespace pgdlm;

constexpr int kSides = 6, kDice = 8;

// Tokens 0 to 5 are the sides. All are equally likely, whatever the others show.
struct Fair final : Prediction {
  std::span<const float> logits(Position) const override { return row; }
  std::size_t bytes() const override { return sizeof(*this); }
  float row[kSides] = {};
};
struct Dice final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    return std::vector<PredictionPtr>(states.size(), std::make_shared<Fair>());
  }
  int vocab() const override { return kSides; }
  Token mask() const override { return kSides; }
};

struct Rising final : Reward {
  // One score per text, each a function of that text alone: batches are made across requests, in any order.
  std::vector<double> score(std::span<const Candidate> texts) override {
    std::vector<double> scores;
    for (const Candidate& text : texts) scores.push_back(of(text.tokens));
    return scores;
  }
  bool accepts_prefixes() const override { return true; }  // `tokens` may be a beginning; then `complete` is false

  static double of(std::span<const Token> dice) {
    int rises = 0;
    for (std::size_t i = 1; i < dice.size(); ++i) {
      if (dice[i] == dice[i - 1]) return -std::numeric_limits<double>::infinity();
      rises += dice[i] > dice[i - 1] ? 1 : 0;
    }
    return rises;
  }
};

constexpr double kBeta = 0.5;

Answer throw_dice(Engine& engine, bool prefix) {
  Request request{.steps = kDice, .process = make_llada({.block_length = 1}), .reward = std::make_shared<Rising>()};
  request.canvas.tokens.assign(kDice, kSides);
  request.settings = preset(Preset::exact, Method::smc);
  request.settings.plan.particles = 256;
  request.settings.plan.beta = kBeta;
  request.settings.cadence.every = 0;  // weights are looked at when a block is finished
  if (prefix) request.settings.valuing.estimator = Estimator::prefix;
  return engine.generate(request);
}

// log E[exp(reward / beta)] of fair dice, one die after the other.
double exact_log_z() {
  std::vector<double> ending(kSides, 1.0 / kSides);  // by the last number
  for (int die = 1; die < kDice; ++die) {
    std::vector<double> next(kSides, 0.0);
    for (int last = 0; last < kSides; ++last)
      for (int v = 0; v < kSides; ++v)
        if (v != last) next[v] += ending[last] / kSides * (v > last ? std::exp(1 / kBeta) : 1);
    ending = next;
  }
  return std::log(std::accumulate(ending.begin(), ending.end(), 0.0));
}

int main() {
  Rising reward;
  const std::vector<std::vector<Token>> texts = {
      {0, 1, 2, 3, 4, 5, 4, 5}, {3, 3, 1, 2, 0, 1, 0, 1}, {5, 4, 3, 2, 1, 0}};
  const std::vector<std::string> wrong = check_reward(reward, texts);
  for (const std::string& violation : wrong) std::printf("violation: %s\n", violation.c_str());
  std::printf("conformance: %zu violations\n", wrong.size());

  Engine engine(std::make_shared<Dice>(), {.memo = false});  // without it, every forward that is asked for is run
  const auto show = [&](const char* name, const Answer& answer) {
    std::printf("%-12s", name);
    for (Token die : answer.tokens) std::printf(" %d", die + 1);
    std::printf("   reward %.0f, log Z %.2f, %lld forwards\n", answer.reward, answer.log_z,
                static_cast<long long>(answer.cost.forwards_run));
    return answer.status == Status::done && std::abs(answer.log_z - exact_log_z()) < 0.5;
  };
  const Answer completions = throw_dice(engine, false), prefixes = throw_dice(engine, true);
  const bool near = show("completions:", completions) && show("prefixes:", prefixes);
  std::printf("exactly, log Z is %.2f\n", exact_log_z());
  return wrong.empty() && near && prefixes.cost.forwards_run < completions.cost.forwards_run ? 0 : 1;
}
