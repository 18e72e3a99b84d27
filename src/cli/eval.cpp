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

// What an evaluation made, repeat after repeat.
struct Outcome {
  std::vector<Question> questions;
  Repeats repeats;

  std::size_t texts() const { return repeats.size() * repeats.front().size(); }
  std::size_t forbidden() const {
    std::size_t count = 0;
    for (const std::vector<Text>& texts : repeats)
      count += std::ranges::count_if(texts, [](const Text& text) { return !std::isfinite(text.result.reward); });
    return count;
  }
};

void print(const Outcome& outcome) {
  const auto line = [](const std::string& title, const std::string& value) { fmt::print("{:<16} {}\n", title, value); };
  line("texts", fmt::format("{} of {} questions", outcome.texts(), outcome.questions.size()));
  for (const char* name : kShown) {
    const Gauge& gauge = find_gauge(name);
    const std::optional<Measured> m = measured(gauge, outcome.questions, outcome.repeats);
    if (!m) continue;
    line(gauge.title,
         fmt::format("{:.4g}{}{}{}{}", m->mean.value, m->mean.error ? fmt::format(" +- {:.2g}", *m->mean.error) : "",
                     gauge.unit.empty() ? "" : " ", gauge.unit,
                     m->deviation ? fmt::format(", sd {:.2g} over repeats", *m->deviation) : ""));
  }
  if (outcome.forbidden() > 0) line("forbidden", fmt::format("{} texts", outcome.forbidden()));
}

void print_json(const Outcome& outcome, const Evaluation& evaluation) {
  ordered_json object = {
      {"task", evaluation.task}, {"questions", outcome.questions.size()}, {"texts", outcome.texts()}};
  for (const char* name : kShown) {
    const Gauge& gauge = find_gauge(name);
    const auto number = [&](const std::optional<double>& readable) {
      return readable ? ordered_json(*readable / gauge.factor) : ordered_json();
    };
    object[name] = ordered_json();
    if (const std::optional<Measured> m = measured(gauge, outcome.questions, outcome.repeats))
      object[name] = {
          {"mean", number(m->mean.value)}, {"error", number(m->mean.error)}, {"deviation", number(m->deviation)}};
  }
  object["forbidden"] = outcome.forbidden();
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
  std::vector<Evaluation> evaluations;
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    evaluations.push_back(
        plan_evaluation(options.task, questions, options.samples, repeated(options.generate, repeat), runner));

  RunStore store(options.store, RunStore::Access::write);
  const auto progress = [&] {  // finished, and in all
    std::pair<int, int> texts;
    for (const Evaluation& evaluation : evaluations) {
      const StoredRun run = begin(store, evaluation);
      texts.first += run.done, texts.second += run.items;
    }
    return texts;
  };
  if (const auto [done, items] = progress(); done > 0)
    fmt::print(stderr, "pgdlm: note: {} of {} texts are in {} already{}\n", done, items, options.store,
               reaches_outside(options.generate.reward)
                   ? "; if the program or server scores otherwise now, give it a new --store"
                   : "");
  {
    Counter counter("texts");
    const auto show = [&](std::size_t done, std::size_t all) { counter.show(done, all); };
    std::vector<Order> orders;
    for (const Evaluation& evaluation : evaluations) orders.push_back({begin(store, evaluation), items_of(evaluation)});
    runner.run(orders, store, show, stop.get_token());
  }
  if (const auto [done, items] = progress(); done < items) {
    fmt::print(stderr, "pgdlm: interrupted: {} of {} texts are in {}; the same command goes on\n", done, items,
               options.store);
    return kExitInterrupted;
  }
  Outcome outcome{.questions = questions};
  for (const Evaluation& evaluation : evaluations) outcome.repeats.push_back(texts_of(begin(store, evaluation), store));
  if (options.json)
    print_json(outcome, evaluations.front());
  else
    print(outcome);
  return 0;
}

}  // namespace pgdlm::cli
