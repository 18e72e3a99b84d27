#include "eval/summary.h"

#include <cmath>
#include <functional>

namespace pgdlm {

std::optional<Mean> mean_of_groups(const std::vector<std::vector<double>>& groups) {
  std::vector<double> means;
  for (const std::vector<double>& group : groups) {
    if (group.empty()) continue;
    double sum = 0;
    for (const double value : group) sum += value;
    means.push_back(sum / static_cast<double>(group.size()));
  }
  if (means.empty()) return std::nullopt;
  const auto n = static_cast<double>(means.size());
  Mean mean;
  for (const double value : means) mean.value += value;
  mean.value /= n;
  if (means.size() < 2) return mean;
  double squares = 0;
  for (const double value : means) squares += (value - mean.value) * (value - mean.value);
  mean.error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

Summary summarise(std::span<const Question> questions, std::span<const Result> results) {
  const std::size_t samples = results.size() / questions.size();
  using Figure = std::function<std::optional<double>(const Question&, const Result&)>;
  const auto mean = [&](const Figure& figure) {
    std::vector<std::vector<double>> groups(questions.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const auto value = figure(questions[i / samples], results[i])) groups[i / samples].push_back(*value);
    return mean_of_groups(groups);
  };
  const auto count = [&](auto member) {
    return *mean([member](const Question&, const Result& r) { return static_cast<double>(r.*member); });
  };
  Summary summary{.texts = static_cast<int>(results.size()), .questions = static_cast<int>(questions.size())};
  for (const Result& result : results) summary.forbidden += !std::isfinite(result.reward);
  summary.accuracy = mean([](const Question& q, const Result& r) {
    return q.answer ? std::optional<double>(is_right(q, r.reply)) : std::nullopt;
  });
  summary.reward = mean([](const Question&, const Result& r) {
    return std::isfinite(r.reward) ? std::optional(r.reward) : std::nullopt;
  });
  summary.particles = count(&Result::particles);
  summary.forwards_asked = count(&Result::forwards_asked);
  summary.forwards_needed = count(&Result::forwards_needed);
  summary.rewards_asked = count(&Result::rewards_asked);
  summary.rewards_needed = count(&Result::rewards_needed);
  return summary;
}

}  // namespace pgdlm
