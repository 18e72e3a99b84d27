#include "eval/gauges.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using OfQuestion = std::function<std::vector<double>(const Question&, std::span<const Text>)>;

// A figure of each text that has it.
template <class OfText>
OfQuestion each(OfText of_text) {
  return [of_text](const Question& question, std::span<const Text> texts) {
    std::vector<double> values;
    for (const Text& text : texts)
      if (const std::optional<double> value = of_text(question, text)) values.push_back(*value);
    return values;
  };
}

template <class Number>
OfQuestion count(Number Result::*member) {
  return each([member](const Question&, const Text& t) { return std::optional<double>(t.result.*member); });
}
template <class Value>
OfQuestion found(std::optional<Value> Text::*member) {
  return each([member](const Question&, const Text& t) { return std::optional<double>(t.*member); });
}
// Of the last sweep of several particles; none for a run that has none.
template <class OfSweep>
OfQuestion last_sweep(OfSweep of_sweep) {
  return each([of_sweep](const Question&, const Text& t) {
    const std::vector<SweepFacts>& sweeps = t.result.by_sweep;
    return sweeps.empty() || sweeps.back().particles < 2 ? std::nullopt
                                                         : std::optional<double>(of_sweep(sweeps.back()));
  });
}

std::optional<double> right(const Question& q, const Text& t) {
  return q.answer ? std::optional<double>(is_right(q, t.result.reply)) : std::nullopt;
}
std::optional<double> reward(const Question&, const Text& t) {
  return std::isfinite(t.result.reward) ? std::optional(t.result.reward) : std::nullopt;
}

// Between the first and the last sweep of several particles.
std::optional<double> ess_gain(const Question&, const Text& t) {
  const auto several = [](const SweepFacts& s) { return s.particles > 1; };
  const std::vector<SweepFacts>& sweeps = t.result.by_sweep;
  if (std::ranges::count_if(sweeps, several) < 2) return std::nullopt;
  const SweepFacts& first = *std::ranges::find_if(sweeps, several);
  return sweeps.back().ess / sweeps.back().particles - first.ess / first.particles;
}

// Different n-grams of words among all of a question's texts, as FK-Steering counts them.
OfQuestion distinct(std::size_t n) {
  return [n](const Question&, std::span<const Text> texts) -> std::vector<double> {
    std::set<std::vector<std::string>> different;
    std::size_t words_in_all = 0;
    for (const Text& text : texts) {
      std::vector<std::string> words;
      std::istringstream in(text.result.text);
      for (std::string word; in >> word;) words.push_back(word);
      words_in_all += words.size();
      for (std::size_t i = 0; i + n <= words.size(); ++i)
        different.emplace(words.begin() + static_cast<std::ptrdiff_t>(i),
                          words.begin() + static_cast<std::ptrdiff_t>(i + n));
    }
    if (words_in_all == 0) return {};
    return {static_cast<double>(different.size()) / static_cast<double>(words_in_all)};
  };
}

// Var(Z)/E(Z)^2 over a question's runs: what the paper's Theorem 2 bounds by Var(exp(r/beta)) / (k Z^2). A sweep with a
// reference has no unbiased estimate (algorithms.md 7.5).
std::vector<double> evidence_variance(const Question&, std::span<const Text> texts) {
  std::vector<double> logs;
  for (const Text& text : texts)
    if (const std::vector<SweepFacts>& sweeps = text.result.by_sweep; !sweeps.empty() && !sweeps.back().conditional)
      logs.push_back(sweeps.back().log_z);
  if (logs.size() < 2) return {};
  const double largest = std::ranges::max(logs);
  if (!std::isfinite(largest)) return {};
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(logs.size());
  for (const double log_z : logs) sum += std::exp(log_z - largest);
  for (const double log_z : logs) squares += std::pow(std::exp(log_z - largest) - sum / n, 2);
  return {squares / (n - 1) / std::pow(sum / n, 2)};
}

std::vector<Gauge> all_gauges() {
  return {
      {"accuracy", "accuracy", 100, "%", each(right)},
      {"label", "texts with the label", 100, "%", found(&Text::labelled)},
      {"judge", "texts the judge agrees on", 100, "%", found(&Text::judged)},
      {"reward", "reward", 1, "", each(reward)},
      {"perplexity", "perplexity of the texts", 1, "", found(&Text::nats), Gauge::Kind::logarithm},
      {"distinct_1", "distinct words", 100, "%", distinct(1), Gauge::Kind::of_set},
      {"distinct_2", "distinct pairs of words", 100, "%", distinct(2), Gauge::Kind::of_set},
      {"distinct_3", "distinct triples of words", 100, "%", distinct(3), Gauge::Kind::of_set},
      {"particles_used", "particles", 1, "per text", count(&Result::particles)},
      {"forwards_asked", "forwards asked", 1, "per text", count(&Result::forwards_asked)},
      {"forwards_needed", "forwards needed", 1, "per text", count(&Result::forwards_needed)},
      {"forwards_run", "forwards run", 1, "per text", found(&Text::forwards_run), Gauge::Kind::effort},
      {"rewards_asked", "rewards asked", 1, "per text", count(&Result::rewards_asked)},
      {"rewards_needed", "rewards needed", 1, "per text", count(&Result::rewards_needed)},
      {"rewards_run", "rewards run", 1, "per text", found(&Text::rewards_run), Gauge::Kind::effort},
      {"seconds", "seconds in company", 1, "per text", found(&Text::seconds), Gauge::Kind::effort},
      {"ess", "effective sample size", 1, "", last_sweep([](const SweepFacts& s) { return s.ess; })},
      {"ess_share", "effective share of the particles", 100, "%",
       last_sweep([](const SweepFacts& s) { return s.ess / s.particles; })},
      {"ess_gain", "effective share gained since the first iteration", 100, "%", each(ess_gain)},
      {"renewed", "path renewed", 100, "%", last_sweep([](const SweepFacts& s) { return s.renewed; })},
      {"ancestors", "ancestors at the beginning", 1, "",
       last_sweep([](const SweepFacts& s) { return s.ancestors.front(); })},
      {"evidence_variance", "relative variance of the evidence", 1, "", evidence_variance, Gauge::Kind::of_set},
  };
}

}  // namespace

const std::vector<Gauge>& gauges() {
  static const std::vector<Gauge> all = all_gauges();
  return all;
}

const Gauge& find_gauge(const std::string& name) {
  std::string names;
  for (const Gauge& gauge : gauges()) {
    if (gauge.name == name) return gauge;
    names += (names.empty() ? "" : ", ") + gauge.name;
  }
  throw Error(ErrorCode::invalid_request, "figure is '" + name + "', allowed: " + names);
}

Groups groups_of(const Gauge& gauge, std::span<const Question> questions, std::span<const Text> texts) {
  const std::size_t samples = texts.size() / questions.size();
  Groups groups;
  for (std::size_t i = 0; i < questions.size(); ++i)
    groups.push_back(gauge.of_question(questions[i], texts.subspan(i * samples, samples)));
  return groups;
}

std::optional<Mean> mean_of_groups(const Groups& groups) {
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

Groups differences(const Groups& one, const Groups& other) {
  Groups out(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto a = mean_of_groups({one[i]}), b = mean_of_groups({other[i]});
    if (a && b) out[i].push_back(a->value - b->value);
  }
  return out;
}

Groups groups_of(const Gauge& gauge, std::span<const Question> questions, const Repeats& repeats) {
  Groups groups(questions.size());
  for (const std::vector<Text>& texts : repeats) {
    const Groups one = groups_of(gauge, questions, texts);
    for (std::size_t i = 0; i < one.size(); ++i) groups[i].insert(groups[i].end(), one[i].begin(), one[i].end());
  }
  return groups;
}

std::optional<Measured> measured(const Gauge& gauge, std::span<const Question> questions, const Repeats& repeats) {
  const std::optional<Mean> mean = mean_of_groups(groups_of(gauge, questions, repeats));
  if (!mean) return std::nullopt;
  Measured out{.mean = readable(gauge, *mean)};
  Groups by_repeat;
  for (const std::vector<Text>& texts : repeats)
    if (const std::optional<Mean> one = mean_of_groups(groups_of(gauge, questions, texts)))
      by_repeat.push_back({readable(gauge, *one).value});
  if (const std::optional<Mean> spread = mean_of_groups(by_repeat); spread && spread->error)
    out.deviation = *spread->error * std::sqrt(static_cast<double>(by_repeat.size()));
  return out;
}

Mean readable(const Gauge& gauge, const Mean& mean) {
  const bool logarithm = gauge.kind == Gauge::Kind::logarithm;
  Mean out{.value = logarithm ? std::exp(mean.value) : mean.value * gauge.factor};
  if (mean.error) out.error = *mean.error * (logarithm ? out.value : gauge.factor);
  return out;
}

}  // namespace pgdlm
