#include "cli/answer_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

// What the answer is, and what it is not.
std::string meaning(const Answer& answer, const GenerateOptions& o) {
  if (answer.status == Status::degenerate) return "the best there is: every text has reward -inf";
  if (*o.method == Method::greedy) return "the greedy path, not steered";
  if (answer.status == Status::cancelled && answer.sweeps == 0) return "the most promising of the unfinished texts";
  if (*o.method == Method::particle_gibbs_adaptive && answer.sweeps == 1) return "the start of the run, not steered";
  switch (answer.selection) {
    case Selection::draw:
      if (o.preset == Preset::fk) return "a draw from FK-Steering's last weights, which are clamped: no exact target";
      if (*o.method == Method::particle_gibbs_adaptive)
        return "a draw from the last weights of a run that stops at its threshold: not a draw from p exp(r/beta)";
      return *o.method == Method::best_of_n
                 ? "a draw from the samples, weighted by exp(r/beta)"
                 : "a draw from the last weights, from p exp(r/beta) as particles and sweeps grow";
    case Selection::paper: return "the paper's lines 12-17 as printed: targets beta/2, a draw from p exp(2r/beta)";
    case Selection::argmax_last:
      return *o.particles == 1 ? "one sample" : "the best reward of the last sweep, not a draw";
    case Selection::argmax_all: return "the best reward of all sweeps, not a draw";
  }
  return "";
}

// Non-finite numbers become null: JSON has no others.
ordered_json sample(const Answer& answer, const GenerateOptions& o, const LanguageModel& model) {
  ordered_json candidates = ordered_json::array();
  for (const ScoredText& c : answer.candidates)
    candidates.push_back(
        {{"text", model.read(c.tokens, answer.prompt).text}, {"reward", c.reward}, {"log_weight", c.log_weight}});
  const Cost& cost = answer.cost;
  return {{"text", model.read(answer.tokens, answer.prompt).text},
          {"reward", answer.reward},
          {"candidates", std::move(candidates)},
          {"log_z", answer.log_z},
          {"seed", answer.seed},
          {"selection", name_of(answer.selection)},
          {"selection_means", meaning(answer, o)},
          {"status", name_of(answer.status)},
          {"cost",
           {{"forwards_asked", cost.forwards_asked},
            {"forwards_run", cost.forwards_run},
            {"rewards_asked", cost.rewards_asked},
            {"rewards_run", cost.rewards_run},
            {"seconds", cost.seconds}}},
          {"model", o.model},
          {"method", name_of(*o.method)},
          {"preset", name_of(*o.preset)},
          {"particles", *o.method == Method::greedy ? 1 : *o.particles},
          {"sweeps", answer.sweeps},
          {"particles_used", answer.particles}};
}

}  // namespace

std::string json_report(const std::vector<Answer>& answers, const GenerateOptions& options,
                        const LanguageModel& model) {
  ordered_json object = sample(answers.front(), options, model);
  if (answers.size() > 1) {
    ordered_json samples = ordered_json::array();
    for (const Answer& answer : answers) samples.push_back(sample(answer, options, model));
    object["samples"] = std::move(samples);
  }
  return object.dump(2);
}

std::string summary(const Answer& answer, const GenerateOptions& options) {
  const Cost& cost = answer.cost;
  return fmt::format(
      "  reward {:.4f}, {} ({}, preset {}, seed {})\n"
      "  answer {}\n"
      "  cost   {} forwards asked, {} run; {} rewards asked, {} run; {:.2f} s\n",
      answer.reward, name_of(answer.status), name_of(*options.method), name_of(*options.preset), answer.seed,
      meaning(answer, options), cost.forwards_asked, cost.forwards_run, cost.rewards_asked, cost.rewards_run,
      cost.seconds);
}

}  // namespace pgdlm::cli
