#include "eval/summary.h"

#include <cmath>
#include <functional>

namespace pgdlm {
namespace {

using Figure = std::function<std::optional<double>(const Question&, const Result&)>;

std::optional<double> accuracy(const Question& q, const Result& r) {
  return q.answer ? std::optional<double>(is_right(q, r.reply)) : std::nullopt;
}
std::optional<double> reward(const Question&, const Result& r) {
  return std::isfinite(r.reward) ? std::optional(r.reward) : std::nullopt;
}
template <class Number>
Figure count(Number Result::*member) {
  return [member](const Question&, const Result& r) { return static_cast<double>(r.*member); };
}

// Of each question, what its samples give.
std::vector<std::vector<double>> groups_of(const Figure& figure, std::span<const Question> questions,
                                           std::span<const Result> results) {
  const std::size_t samples = results.size() / questions.size();
  std::vector<std::vector<double>> groups(questions.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const auto value = figure(questions[i / samples], results[i])) groups[i / samples].push_back(*value);
  return groups;
}

}  // namespace

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
  const auto mean = [&](const Figure& figure) { return mean_of_groups(groups_of(figure, questions, results)); };
  Summary summary{.texts = static_cast<int>(results.size()), .questions = static_cast<int>(questions.size())};
  for (const Result& result : results) summary.forbidden += !std::isfinite(result.reward);
  summary.accuracy = mean(accuracy);
  summary.reward = mean(reward);
  summary.particles = *mean(count(&Result::particles));
  summary.forwards_asked = *mean(count(&Result::forwards_asked));
  summary.forwards_needed = *mean(count(&Result::forwards_needed));
  summary.rewards_asked = *mean(count(&Result::rewards_asked));
  summary.rewards_needed = *mean(count(&Result::rewards_needed));
  return summary;
}

Difference compare(std::span<const Question> questions, std::span<const Result> one, std::span<const Result> other) {
  const auto difference = [&](const Figure& figure) {
    const auto ours = groups_of(figure, questions, one), theirs = groups_of(figure, questions, other);
    std::vector<std::vector<double>> groups(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const auto a = mean_of_groups({ours[i]}), b = mean_of_groups({theirs[i]});
      if (a && b) groups[i].push_back(a->value - b->value);
    }
    return mean_of_groups(groups);
  };
  return {.accuracy = difference(accuracy),
          .reward = difference(reward),
          .particles = *difference(count(&Result::particles)),
          .forwards_needed = *difference(count(&Result::forwards_needed))};
}

}  // namespace pgdlm
