#include "diffusion/valuer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/log_math.h"
#include "diffusion/completion.h"

namespace pgdlm {
namespace {

// An intermediate guess of -inf would kill a lineage that might still end well; any finite guess is exact (law 3).
constexpr double kForbidden = -1e4;

}  // namespace

Valuer::Valuer(const Frame& frame, const Settings& settings, Compute& compute, Source& source)
    : frame_(frame),
      valuing_(settings.valuing),
      beta_(settings.plan.beta),
      lenient_(settings.plan.arithmetic == Arithmetic::fk),
      compute_(compute),
      source_(source) {}

std::vector<Position> Valuer::masked(const State& state) const {
  std::vector<Position> rows;
  for (Position l = 0; l < frame_.length(); ++l)
    if (!frame_.pinned[l] && state.tokens[l] == frame_.mask) rows.push_back(l);
  return rows;
}

std::vector<Token> Valuer::finished_prefix(const State& state) const {
  std::size_t end = 0;
  while (end < state.tokens.size() && (frame_.pinned[end] || state.tokens[end] != frame_.mask)) ++end;
  return {state.tokens.begin(), state.tokens.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<Valuer::Strand> Valuer::strands(const std::vector<Valuand>& valuands) const {
  const int each = valuing_.estimator == Estimator::random && valuing_.tau > 1 ? valuing_.phi : 1;
  std::vector<Strand> strands;
  for (std::size_t owner = 0; owner < valuands.size(); ++owner) {
    const Valuand& v = valuands[owner];
    if (valuing_.estimator == Estimator::prefix || masked(v.state).empty()) {
      strands.push_back({owner, v.state, v.time, nullptr, {finished_prefix(v.state)}});
      continue;
    }
    for (int j = 0; j < each; ++j)
      strands.push_back({owner, v.state, v.time, source_.open(v.key.child(static_cast<std::uint64_t>(j))), {}});
  }
  return strands;
}

// One prediction of a strand's canvas: a look-ahead step while more than one is left, then the completions.
PredictJob Valuer::job(Strand& strand, int left) const {
  const bool random = valuing_.estimator == Estimator::random;
  const double time = strand.time * left / valuing_.tau;
  auto reduce = [this, &strand, left, random](StateView state, const Prediction& prediction) {
    if (left > 1) {
      strand.state.apply(random ? sample_ahead(state, prediction, left, *strand.draws)
                                : surest_ahead(state, prediction, left));
    } else if (random) {
      const int samples = valuing_.tau > 1 ? 1 : valuing_.phi;
      for (int j = 0; j < samples; ++j) strand.texts.push_back(sample_completion(state, prediction, *strand.draws));
    } else {
      strand.texts = best_completions(state, prediction, valuing_.phi);
    }
  };
  return {strand.state.tokens, strand.state.notes, time, std::move(reduce), masked(strand.state)};
}

Task<void> Valuer::complete(std::vector<Strand>& strands) const {
  for (int left = valuing_.tau; left >= 1; --left) {
    std::vector<PredictJob> jobs;
    for (Strand& strand : strands) {
      if (!strand.texts.empty()) continue;
      if (!masked(strand.state).empty())
        jobs.push_back(job(strand, left));
      else
        strand.texts = {strand.state.tokens};  // the look-ahead finished it
    }
    if (!jobs.empty()) co_await compute_.predict(std::move(jobs));
  }
}

double Valuer::estimate(std::vector<double> rewards, bool last) const {
  for (double& r : rewards) {
    if (lenient_) continue;
    if (std::isnan(r) || r == std::numeric_limits<double>::infinity())
      throw Error(ErrorCode::invalid_request, "reward is " + std::to_string(r) + " for a text, allowed: finite or -inf",
                  "mend the reward function, or use --preset fk, which counts NaN as weight 0");
    if (!last && std::isinf(r)) r = kForbidden;
  }
  if (rewards.size() == 1) return rewards[0];
  const double scale = valuing_.beta_inside ? beta_ : 1.0;
  for (double& r : rewards) r /= scale;
  return scale * log_mean_exp(rewards);
}

Task<std::vector<double>> Valuer::values(std::vector<Valuand> valuands) {
  std::vector<Strand> lines = strands(valuands);
  co_await complete(lines);

  std::vector<std::vector<double>> rewards(valuands.size());
  std::vector<std::vector<std::vector<Token>>> texts(valuands.size());
  for (Strand& strand : lines)
    for (auto& text : strand.texts) texts[strand.owner].push_back(std::move(text));

  std::vector<ScoreJob> jobs;
  for (std::size_t v = 0; v < valuands.size(); ++v) {
    const bool nothing_yet =
        valuing_.estimator == Estimator::prefix && static_cast<int>(texts[v][0].size()) <= frame_.prompt;
    if (nothing_yet) texts[v].clear();
    rewards[v].resize(texts[v].size());
    for (std::size_t j = 0; j < texts[v].size(); ++j) {
      const bool complete = texts[v][j].size() == static_cast<std::size_t>(frame_.length());
      jobs.push_back({std::move(texts[v][j]), frame_.prompt, complete, &rewards[v][j]});
    }
  }
  if (!jobs.empty()) co_await compute_.score(std::move(jobs));

  std::vector<double> values;
  for (std::size_t v = 0; v < valuands.size(); ++v)
    values.push_back(rewards[v].empty() ? 0.0 : estimate(std::move(rewards[v]), valuands[v].last));
  co_return values;
}

}  // namespace pgdlm
