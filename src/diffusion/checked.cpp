#include "diffusion/checked.h"

#include <string>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

Error miscounted(const std::string& who, std::size_t asked, std::size_t got) {
  return Error(ErrorCode::bad_model, who + " was asked about " + std::to_string(asked) + " and answered " +
                                         std::to_string(got) + "; one answer per question is allowed");
}

}  // namespace

std::vector<PredictionPtr> checked_predict(Denoiser& denoiser, std::span<const StateView> states) {
  std::vector<PredictionPtr> predictions = denoiser.predict(states);
  if (predictions.size() != states.size()) throw miscounted("Denoiser::predict", states.size(), predictions.size());
  for (const PredictionPtr& prediction : predictions) {
    if (!prediction) throw Error(ErrorCode::bad_model, "Denoiser::predict returned a null prediction");
  }
  return predictions;
}

std::size_t checked_prepare(Denoiser& denoiser, std::span<const Reading> readings) {
  const std::size_t ready = denoiser.prepare(readings);
  if (ready < 1 || ready > readings.size())
    throw Error(ErrorCode::bad_model, "Denoiser::prepare was told of " + std::to_string(readings.size()) +
                                          " readings and has " + std::to_string(ready) + " ready, allowed: 1 to all");
  return ready;
}

std::vector<double> checked_score(Reward& reward, std::span<const Candidate> candidates) {
  std::vector<double> scores = reward.score(candidates);
  if (scores.size() != candidates.size()) throw miscounted("Reward::score", candidates.size(), scores.size());
  return scores;
}

}  // namespace pgdlm
