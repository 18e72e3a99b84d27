#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/printable.h"
#include "eval/evaluation.h"
#include "eval/gauges.h"
#include "eval/study_run.h"
#include "eval/table.h"
#include "options/config.h"
#include "pgdlm/error.h"

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

ordered_json options_of(const StoredRun& run) { return ordered_json::parse(to_config(evaluation_of(run).options)); }

// As a shell wants it, where that matters.
std::string quoted(const std::string& text) {
  return text.find_first_of(" '\"*;&|<>()$") == std::string::npos ? text : "'" + text + "'";
}

// Options in which the evaluations of a store differ: what tells them from each other.
std::set<std::string> differing(const std::vector<StoredRun>& runs) {
  std::map<std::string, std::map<std::string, std::size_t>> times;  // by option and value
  std::size_t count = 0;
  for (const StoredRun& run : runs) try {
      if (run.name != "eval") continue;
      const ordered_json options = options_of(run);
      for (const auto& [key, value] : options.items()) ++times[key][value.dump()];
      ++count;
    } catch (const Error&) {  // it will be told in its own line
      continue;
    }
  std::set<std::string> keys;
  for (const auto& [key, values] : times)
    if (values.begin()->second < count) keys.insert(key);
  return keys;
}

std::string description(const StoredRun& run, const std::set<std::string>& shown) {
  if (run.name != "eval") return describe_study_run(run);
  const Evaluation e = evaluation_of(run);
  std::string line = fmt::format("{} {}", run.name, e.task);
  const ordered_json options = options_of(run);
  for (const auto& [key, value] : options.items()) {
    const bool always = key == "model" || key == "reward" || key == "method";
    if (!always && !shown.contains(key)) continue;
    std::string option = key;
    std::ranges::replace(option, '_', '-');
    line += fmt::format(" --{} {}", option, value.is_string() ? quoted(value.get<std::string>()) : value.dump());
  }
  return line + fmt::format(" --samples {}", e.samples);
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
  const std::vector<StoredRun> all = store.runs();
  const std::set<std::string> shown = differing(all);
  for (const StoredRun& run : all) {
    std::string what;
    try {
      what = description(run, shown);
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
  for (const StoredRun& run : pair) fmt::print("{:>4}  {}\n", run.id, printable(description(run, differing(pair))));
  const std::vector<Text> here = texts_of(one, store), there = texts_of(other, store);
  for (const char* name : {"accuracy", "reward", "particles_used", "forwards_needed"}) {
    const Gauge& gauge = find_gauge(name);
    print_difference(name, groups_of(gauge, ours.questions, here), groups_of(gauge, ours.questions, there));
  }
  return 0;
}

}  // namespace pgdlm::cli
