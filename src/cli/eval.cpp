#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/counter.h"
#include "cli/interrupt.h"
#include "cli/notes.h"
#include "eval/evaluation.h"
#include "eval/gauges.h"
#include "options/config.h"

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

int list_tasks() {
  for (const std::filesystem::path& path : tasks_on_shelves()) {
    const std::vector<Question> questions = read_task(path);
    fmt::print("{:<12} {:>5} questions{}  {}\n", path.stem().string(), questions.size(),
               has_answers(questions) ? " with answers" : "             ", path.string());
  }
  return 0;
}

std::vector<Question> questions_of(const EvalOptions& options) {
  std::vector<Question> questions = read_task(find_task(options.task));
  if (options.limit > 0 && static_cast<std::size_t>(options.limit) < questions.size()) questions.resize(options.limit);
  return questions;
}

// What does not depend on the machine or on earlier interruptions.
constexpr std::array kShown = {"accuracy",        "reward",        "particles_used", "forwards_asked",
                               "forwards_needed", "rewards_asked", "rewards_needed"};

int forbidden_of(const std::vector<Text>& texts) {
  return static_cast<int>(
      std::ranges::count_if(texts, [](const Text& text) { return !std::isfinite(text.result.reward); }));
}

void print(const std::vector<Question>& questions, const std::vector<Text>& texts) {
  const auto line = [](const std::string& title, const std::string& value) { fmt::print("{:<16} {}\n", title, value); };
  line("texts", fmt::format("{} of {} questions", texts.size(), questions.size()));
  for (const char* name : kShown) {
    const Gauge& gauge = find_gauge(name);
    const std::optional<Mean> mean = mean_of_groups(groups_of(gauge, questions, texts));
    if (!mean) continue;
    const auto [value, error] = readable(gauge, *mean);
    line(gauge.title, fmt::format("{:.4g}{}{}{}", value, error ? fmt::format(" +- {:.2g}", *error) : "",
                                  gauge.unit.empty() ? "" : " ", gauge.unit));
  }
  if (const int forbidden = forbidden_of(texts); forbidden > 0) line("forbidden", fmt::format("{} texts", forbidden));
}

void print_json(const std::vector<Question>& questions, const std::vector<Text>& texts, const Evaluation& evaluation) {
  ordered_json object = {{"task", evaluation.task}, {"questions", questions.size()}, {"texts", texts.size()}};
  for (const char* name : kShown) {
    const std::optional<Mean> mean = mean_of_groups(groups_of(find_gauge(name), questions, texts));
    object[name] = ordered_json();
    if (mean)
      object[name] = {{"mean", mean->value}, {"error", mean->error ? ordered_json(*mean->error) : ordered_json()}};
  }
  object["forbidden"] = forbidden_of(texts);
  object["options"] = ordered_json::parse(to_config(evaluation.options));
  fmt::print("{}\n", object.dump(2));
}

}  // namespace

int eval(const EvalOptions& options) {
  if (options.list) return list_tasks();
  Interrupt interrupt;
  const std::stop_source stop;
  interrupt.watch([stop]() mutable { stop.request_stop(); });  // a copy: it may be called to the last
  const std::vector<Question> questions = questions_of(options);
  Runner runner({.rewards = {.models = options.model, .patience = options.reward_patience},
                 .threads = threads_of(options.model)});
  note_without_effect(runner.without_effect(options.generate));
  const Evaluation evaluation = plan_evaluation(options.task, questions, options.samples, options.generate, runner);

  RunStore store(options.store, RunStore::Access::write);
  StoredRun run = begin(store, evaluation);
  if (run.done > 0)
    fmt::print(stderr, "pgdlm: note: {} of {} texts are in {} already{}\n", run.done, run.items, options.store,
               reaches_outside(evaluation.options.reward)
                   ? "; if the program or server scores otherwise now, give it a new --store"
                   : "");
  {
    Counter counter("texts");
    const auto show = [&](std::size_t done, std::size_t all) { counter.show(done, all); };
    runner.run({{run, items_of(evaluation)}}, store, show, stop.get_token());
  }
  run = begin(store, evaluation);
  if (run.done < run.items) {
    fmt::print(stderr, "pgdlm: interrupted: {} of {} texts are in {}; the same command goes on\n", run.done, run.items,
               options.store);
    return kExitInterrupted;
  }
  const std::vector<Text> texts = texts_of(run, store);
  if (options.json)
    print_json(questions, texts, evaluation);
  else
    print(questions, texts);
  return 0;
}

}  // namespace pgdlm::cli
