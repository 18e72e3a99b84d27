#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/crew.h"
#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/counter.h"
#include "cli/interrupt.h"
#include "eval/evaluation.h"
#include "eval/summary.h"
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

ordered_json to_json(const Mean& mean) {
  return {{"mean", mean.value}, {"error", mean.error ? ordered_json(*mean.error) : ordered_json()}};
}
ordered_json to_json(const std::optional<Mean>& mean) { return mean ? to_json(*mean) : ordered_json(); }

void print(const Summary& s) {
  const auto line = [](const char* name, const Mean& mean, const char* unit, double factor = 1) {
    fmt::print("{:<16} {:.4g}{}{}\n", name, factor * mean.value,
               mean.error ? fmt::format(" +- {:.2g}", factor * *mean.error) : "", unit);
  };
  fmt::print("{:<16} {} of {} questions\n", "texts", s.texts, s.questions);
  if (s.accuracy) line("accuracy", *s.accuracy, " %", 100);
  if (s.reward) line("reward", *s.reward, "");
  if (s.forbidden > 0) fmt::print("{:<16} {} texts\n", "forbidden", s.forbidden);
  line("particles", s.particles, " per text");
  line("forwards asked", s.forwards_asked, " per text");
  line("forwards needed", s.forwards_needed, " per text");
  line("rewards asked", s.rewards_asked, " per text");
  line("rewards needed", s.rewards_needed, " per text");
}

void print_json(const Summary& s, const Evaluation& evaluation) {
  const ordered_json object = {{"task", evaluation.task},
                               {"questions", s.questions},
                               {"texts", s.texts},
                               {"accuracy", to_json(s.accuracy)},
                               {"reward", to_json(s.reward)},
                               {"forbidden", s.forbidden},
                               {"particles_used", to_json(s.particles)},
                               {"forwards_asked", to_json(s.forwards_asked)},
                               {"forwards_needed", to_json(s.forwards_needed)},
                               {"rewards_asked", to_json(s.rewards_asked)},
                               {"rewards_needed", to_json(s.rewards_needed)},
                               {"options", ordered_json::parse(to_config(evaluation.options))}};
  fmt::print("{}\n", object.dump(2));
}

}  // namespace

int eval(const EvalOptions& options) {
  if (options.list) return list_tasks();
  Interrupt interrupt;
  const std::vector<Question> questions = questions_of(options);
  const int threads = options.model.device.threads > 0 ? options.model.device.threads : usable_cores();
  Runner runner({.rewards = {.models = options.model, .patience = options.reward_patience}, .threads = threads});
  const Evaluation evaluation = plan_evaluation(options.task, questions, options.samples, options.generate, runner);

  RunStore store(options.store, RunStore::Access::write);
  StoredRun run = begin(store, evaluation);
  if (run.done > 0)
    fmt::print(stderr, "pgdlm: note: {} of {} texts are in {} already{}\n", run.done, run.items, options.store,
               reaches_outside(evaluation.options.reward)
                   ? "; if the program or server scores otherwise now, give it a new --store"
                   : "");
  const std::stop_source stop;
  interrupt.watch([stop]() mutable { stop.request_stop(); });  // a copy: it may be called to the last
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
  const Summary summary = summarise(questions, results_of(run, store));
  if (options.json)
    print_json(summary, evaluation);
  else
    print(summary);
  return 0;
}

}  // namespace pgdlm::cli
