#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>

#include "base/crew.h"
#include "base/philox.h"
#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/counter.h"
#include "cli/interrupt.h"
#include "cli/whole_file.h"
#include "eval/nelbo.h"
#include "eval/study_view.h"
#include "pgdlm/error.h"

namespace pgdlm::cli {
namespace {

int list_studies() {
  for (const std::filesystem::path& path : studies_on_shelves()) {
    const Study study = read_study(path);
    fmt::print("{:<16} {:>4} cells  {}\n", study.name, study.cells.size() * static_cast<std::size_t>(study.repeats),
               study.title);
  }
  return 0;
}

// Of one forward on a canvas that is all masks, in a batch of a few.
double seconds_per_forward(const GenerateOptions& options, const ModelOptions& device) {
  constexpr int kBatch = 4;
  const std::shared_ptr<const LanguageModel> model = open_language_model(options.model, device);
  const int length = std::min(options.n_predict.value_or(1), model->max_length());
  const BoundText text{std::vector<Token>(static_cast<std::size_t>(length), 0), 0, length};
  PhiloxSource source;
  const auto start = std::chrono::steady_clock::now();
  bounds(*model->denoiser(), std::vector{text}, {.draws = kBatch}, source);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kBatch;
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

int dry_run(const StudyPlan& plan, const ModelOptions& device) {
  Table table{.head = {"panel", "method", "at", "texts", "forwards"}};
  std::map<std::string, double> speeds;  // by model
  double forwards = 0, seconds = 0, texts = 0;
  for (std::size_t i = 0; i < plan.evaluations.size(); ++i) {
    const Evaluation& evaluation = plan.evaluations[i];
    const Cell& cell = plan.study.cells[i / static_cast<std::size_t>(plan.study.repeats)];
    const double expected = expected_forwards(evaluation);
    const std::string& model = evaluation.options.model;
    if (!speeds.contains(model)) speeds[model] = seconds_per_forward(evaluation.options, device);
    forwards += expected;
    seconds += expected * speeds[model];
    texts += static_cast<double>(evaluation.questions.size()) * evaluation.samples;
    if (i % static_cast<std::size_t>(plan.study.repeats) == 0)
      table.rows.push_back(
          {plan.study.panels[cell.panel].name, plan.study.series[cell.series], fmt::format("{:g}", cell.at),
           fmt::format("{}", evaluation.questions.size() * static_cast<std::size_t>(evaluation.samples)),
           fmt::format("{:.0f}", expected)});
  }
  fmt::print("{}\n{}, {} times\n", plan.study.title, to_text(table), plan.study.repeats);
  fmt::print("in all {:.0f} texts, about {:.0f} forwards asked for, at most {} if none is shared, and the rewards\n",
             texts, forwards, duration(seconds));
  return 0;
}

void print(const FinishedStudy& study) {
  fmt::print("{}\n\n", study.study.title);
  for (const FigureSpec& figure : study.study.figures)
    for (const Table& table : tables_of(study, figure)) fmt::print("{}\n", to_text(table));
  if (const Table claims = claims_of(study); !claims.rows.empty()) fmt::print("{}\n", to_text(claims));
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "an unknown processor";
}

FinishedStudy find_finished(const std::vector<FinishedStudy>& studies, const std::string& name,
                            const std::string& store) {
  std::string names;
  for (const FinishedStudy& study : studies) {
    if (study.study.name == name) return study;
    names += (names.empty() ? "" : ", ") + study.study.name;
  }
  throw Error(ErrorCode::invalid_request,
              fmt::format("there is no finished study '{}' in '{}', allowed: {}", name, store, names),
              fmt::format("run it first: pgdlm study {} --store {}", name, store));
}

}  // namespace

int study(const StudyOptions& options) {
  if (options.list) return list_studies();
  Interrupt interrupt;
  const RewardOptions rewards = {.models = options.model, .patience = options.reward_patience};
  Study asked = read_study(find_study(options.study), {options.full, options.limit, options.samples, options.repeats});
  const std::string name = asked.name;
  Runner runner({.rewards = rewards, .threads = threads_of(options.model)});
  Measurer measurer(rewards);
  for (const Panel& panel : asked.panels) measurer.check({.label = panel.label, .judge = panel.judge});
  std::vector<Question> questions = read_task(find_task(asked.task));
  const StudyPlan plan = plan_study(std::move(asked), std::move(questions), runner);
  if (options.dry_run) return dry_run(plan, options.model);

  RunStore store(options.store, RunStore::Access::write);
  const std::stop_source stop;
  interrupt.watch([stop]() mutable { stop.request_stop(); });  // a copy: it may be called to the last
  const auto phase = [](const std::string& what) -> Runner::Progress {
    const auto counter = std::make_shared<Counter>(what);
    return [counter](std::size_t done, std::size_t all) { counter->show(done, all); };
  };
  const bool finished = run_study(plan, runner, measurer, store, phase, stop.get_token());
  if (finished && !options.traces.empty())
    write_traces(plan, runner, options.traces, phase("traces"), stop.get_token());
  if (!finished || stop.stop_requested()) {
    fmt::print(stderr, "pgdlm: interrupted: what is finished is in {}; the same command goes on\n", options.store);
    return kExitInterrupted;
  }
  print(find_finished(finished_studies(store), name, options.store));
  return 0;
}

int report(const ReportOptions& options) {
  const RunStore store(options.store, RunStore::Access::read);
  const std::vector<FinishedStudy> all = finished_studies(store);
  std::vector<FinishedStudy> chosen;
  for (const std::string& name : options.studies) chosen.push_back(find_finished(all, name, options.store));
  if (options.studies.empty()) chosen = all;
  if (chosen.empty())
    throw Error(ErrorCode::invalid_request, fmt::format("there is no finished study in '{}'", options.store),
                "run one first: pgdlm study --list lists them");
  const std::string machine = fmt::format("{}, {} cores.", processor(), usable_cores());
  write_whole_file(options.out, html_report(chosen, machine, options.traces), "out");
  if (!options.csv.empty()) {
    Table numbers;
    for (const FinishedStudy& study : chosen) {
      const Table more = numbers_of(study);
      numbers.head = more.head;
      numbers.rows.insert(numbers.rows.end(), more.rows.begin(), more.rows.end());
    }
    write_whole_file(options.csv, to_csv(numbers), "csv");
  }
  fmt::print("{}: {} {}\n", options.out, chosen.size(), chosen.size() == 1 ? "study" : "studies");
  return 0;
}

}  // namespace pgdlm::cli
