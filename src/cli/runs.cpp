#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/printable.h"
#include "eval/evaluation.h"
#include "eval/gauges.h"
#include "eval/study_run.h"
#include "eval/table.h"
#include "options/names.h"
#include "pgdlm/error.h"

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

// What tells a run from others of the same task.
std::string description(const StoredRun& run) {
  if (run.name != "eval") return describe_study_run(run);
  const Evaluation e = evaluation_of(run);
  const GenerateOptions& o = e.options;
  std::string line = fmt::format("{} {} -m {} --process {} --reward '{}' --method {} --preset {}", run.name, e.task,
                                 o.model, name_of(*o.process), o.reward, name_of(*o.method), name_of(*o.preset));
  const auto add = [&](const char* name, const std::string& value) { line += fmt::format(" --{} {}", name, value); };
  if (*o.method != Method::greedy) add("particles", std::to_string(*o.particles));
  if (*o.method == Method::particle_gibbs || *o.method == Method::particle_gibbs_adaptive)
    add("iterations", std::to_string(*o.iterations));
  if (*o.method != Method::greedy && *o.method != Method::best_of_n) {
    add("selection", name_of(*o.selection));
    add("estimator", name_of(*o.estimator));
    add("phi", std::to_string(*o.phi));
  }
  add("samples", std::to_string(e.samples));
  add("seed", std::to_string(o.seed));
  return line;
}

// The runs that a command was given: so many.
std::vector<StoredRun> find_runs(const RunStore& store, const RunsOptions& options, std::size_t count) {
  if (options.ids.size() != count)
    throw Error(ErrorCode::invalid_request, fmt::format("{} runs are given, expected {}", options.ids.size(), count),
                fmt::format("name them by the numbers that pgdlm runs --store {} lists", options.store));
  std::vector<StoredRun> found;
  for (const std::string& id : options.ids) {
    for (StoredRun& run : store.runs())
      if (std::to_string(run.id) == id) found.push_back(std::move(run));
    if (found.empty() || std::to_string(found.back().id) != id)
      throw Error(ErrorCode::invalid_request, fmt::format("there is no run '{}' in '{}'", id, options.store),
                  fmt::format("pgdlm runs --store {} lists those there are", options.store));
  }
  return found;
}

// A finished text with all that is known about it, in the order of the columns.
ordered_json row(const Evaluation& e, int number, const StoredItem& item) {
  const Question& question = e.questions[number / e.samples];
  ordered_json object = {{"number", number}, {"prompt", question.prompt}};
  const ordered_json result = ordered_json::parse(to_json(result_from_json(item.result)));
  if (has_answers(e.questions)) {
    object["answer"] = question.answer ? ordered_json(*question.answer) : ordered_json();
    object["right"] =
        question.answer ? ordered_json(is_right(question, result["reply"].get<std::string>())) : ordered_json();
  }
  object.update(result);
  object["forwards_run"] = item.effort.forwards_run;
  object["rewards_run"] = item.effort.rewards_run;
  object["seconds"] = item.effort.seconds;
  return object;
}

void print_csv(const ordered_json& object, bool values) {
  std::string line;
  for (const auto& [key, value] : object.items()) {
    if (!line.empty()) line += ",";
    line += values ? csv_field(value.is_string() ? value.get<std::string>()
                               : value.is_null() ? ""
                                                 : value.dump())
                   : key;
  }
  fmt::print("{}\n", line);
}

void print_difference(const std::string& name, const Groups& one, const Groups& other) {
  const std::optional<Mean> mean = mean_of_groups(differences(one, other));
  if (!mean) return;
  const Gauge& gauge = find_gauge(name);
  const bool certain = mean->error && std::abs(mean->value) > 2 * *mean->error;
  fmt::print("{:<16} {:+.4g}{} {}{}\n", gauge.title, gauge.factor * mean->value,
             mean->error ? fmt::format(" +- {:.2g}", gauge.factor * *mean->error) : "",
             gauge.unit == "%" ? "points" : gauge.unit,
             certain || mean->value == 0 ? "" : "   (within two standard errors)");
}

}  // namespace

int runs(const RunsOptions& options) {
  const RunStore store(options.store, RunStore::Access::read);
  for (const StoredRun& run : store.runs()) {
    std::string what;
    try {
      what = description(run);
    } catch (const Error& e) {  // the others are still of use
      what = e.what();
    }
    fmt::print("{:>4}  {:>6} of {:<6}  {}  {}\n", run.id, run.done, run.items, printable(run.begun), printable(what));
  }
  return 0;
}

int runs_export(const RunsOptions& options) {
  const RunStore store(options.store, RunStore::Access::read);
  const StoredRun run = find_runs(store, options, 1).front();
  const Evaluation evaluation = evaluation_of(run);
  bool first = true;
  for (const auto& [number, item] : store.items(run)) {
    const ordered_json object = row(evaluation, number, item);
    if (options.format == "jsonl") {
      fmt::print("{}\n", object.dump());
      continue;
    }
    if (first) print_csv(object, false);
    print_csv(object, true);
    first = false;
  }
  return 0;
}

int runs_compare(const RunsOptions& options) {
  const RunStore store(options.store, RunStore::Access::read);
  const std::vector<StoredRun> pair = find_runs(store, options, 2);
  const StoredRun &one = pair[0], &other = pair[1];
  const Evaluation ours = evaluation_of(one), theirs = evaluation_of(other);
  if (ours.questions != theirs.questions)
    throw Error(ErrorCode::invalid_request, fmt::format("runs {} and {} have different questions", one.id, other.id),
                "compare runs of the same task with the same --limit");
  for (const StoredRun& run : pair) fmt::print("{:>4}  {}\n", run.id, printable(description(run)));
  const std::vector<Text> here = texts_of(one, store), there = texts_of(other, store);
  for (const char* name : {"accuracy", "reward", "particles_used", "forwards_needed"}) {
    const Gauge& gauge = find_gauge(name);
    print_difference(name, groups_of(gauge, ours.questions, here), groups_of(gauge, ours.questions, there));
  }
  return 0;
}

}  // namespace pgdlm::cli
