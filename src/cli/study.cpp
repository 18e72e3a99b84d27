#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>

#include "base/crew.h"
#include "base/philox.h"
#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/counter.h"
#include "cli/interrupt.h"
#include "cli/printable.h"
#include "cli/whole_file.h"
#include "eval/claims.h"
#include "eval/nelbo.h"
#include "eval/study_view.h"
#include "pgdlm/error.h"

namespace pgdlm::cli {
namespace {

int list_studies() {
  for (const std::filesystem::path& path : studies_on_shelves()) {
    std::string what;
    try {
      const Study study = read_study(path);
      what = fmt::format("{:>4} cells  {}", study.cells.size() * static_cast<std::size_t>(study.repeats), study.title);
    } catch (const Error& e) {  // the others are still of use
      what = e.what();
    }
    fmt::print("{:<16} {}\n", printable(path.stem().string()), printable(what));
  }
  return 0;
}

// Of one forward, in a batch of a few.
double seconds_per_forward(const Evaluation& evaluation, Runner& runner) {
  constexpr int kBatch = 4;
  const std::shared_ptr<const LanguageModel> model = runner.model(evaluation.options.model);
  const std::size_t prompt = model->encode(evaluation.questions.front().prompt, "prompt").size();
  const int length = std::min(evaluation.options.n_predict.value_or(1) + static_cast<int>(prompt), model->max_length());
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

int dry_run(const StudyPlan& plan, Runner& runner) {
  Table table{.head = {"panel", "method", "at", "texts", "forwards"}};
  std::map<std::string, double> speeds;  // by model
  double forwards = 0, seconds = 0, texts = 0;
  for (std::size_t i = 0; i < plan.evaluations.size(); ++i) {
    const Evaluation& evaluation = plan.evaluations[i];
    const Cell& cell = plan.study.cells[i / static_cast<std::size_t>(plan.study.repeats)];
    const double expected = expected_forwards(evaluation);
    const std::string& model = evaluation.options.model;
    if (!speeds.contains(model)) speeds[model] = seconds_per_forward(evaluation, runner);
    forwards += expected;
    seconds += expected * speeds[model];
    texts += static_cast<double>(evaluation.questions.size()) * evaluation.samples;
    if (i % static_cast<std::size_t>(plan.study.repeats) == 0)
      table.rows.push_back(
          {plan.study.panels[cell.panel].name, plan.study.series[cell.series], fmt::format("{:g}", cell.at),
           fmt::format("{}", evaluation.questions.size() * static_cast<std::size_t>(evaluation.samples)),
           fmt::format("{:.0f}", expected)});
  }
  fmt::print("{}\n{}", plan.study.title, to_text(table));
  if (plan.study.repeats > 1) fmt::print("each {} times with other seeds\n", plan.study.repeats);
  fmt::print("in all {:.0f} texts, about {:.0f} forwards ({}) if they shared nothing, and the rewards\n", texts,
             forwards, duration(seconds));
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

FinishedStudy find_finished(const std::string& name, const RunStore& store, const std::string& file) {
  const std::map<std::string, StoredRun> studies = finished_studies(store);
  if (const auto found = studies.find(name); found != studies.end()) return read_finished(found->second, store);
  std::string names;
  for (const auto& [known, run] : studies) names += (names.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::invalid_request,
              fmt::format("there is no finished study '{}' in '{}', allowed: {}", name, file,
                          names.empty() ? "none yet" : names),
              fmt::format("run it first: pgdlm study {} --store {}", name, file));
}

// One that cannot be read any more does not stand in the way of the others.
std::vector<FinishedStudy> all_finished(const RunStore& store) {
  std::vector<FinishedStudy> studies;
  for (const auto& [name, run] : finished_studies(store)) try {
      studies.push_back(read_finished(run, store));
    } catch (const Error& e) {
      fmt::print(stderr, "pgdlm: note: {} is left out: {}\n", printable(name), printable(e.what()));
    }
  return studies;
}

void write_figures(const std::vector<FinishedStudy>& studies, const std::filesystem::path& folder) {
  std::error_code told_when_writing;
  std::filesystem::create_directories(folder, told_when_writing);
  for (const FinishedStudy& study : studies) {
    int number = 0;
    for (const FigureSpec& figure : study.study.figures)
      if (const std::string svg = svg_of(study, figure); !svg.empty())
        write_whole_file(folder / fmt::format("{}-{}.svg", study.study.name, ++number), svg, "figures");
  }
}

std::string csv_of(const std::vector<FinishedStudy>& studies, Table (*table_of)(const FinishedStudy&)) {
  Table all;
  for (const FinishedStudy& study : studies) {
    Table more = table_of(study);
    all.head = more.head;
    std::ranges::move(more.rows, std::back_inserter(all.rows));
  }
  return to_csv(all);
}

// What was typed behind `pgdlm study`, as far as texts depend on it.
std::string words_of(const StudyOptions& options) {
  std::string words = options.study + (options.full ? " --full" : "");
  const auto size = [&](const char* name, const std::optional<int>& value) {
    if (value) words += fmt::format(" --{} {}", name, *value);
  };
  size("limit", options.limit);
  size("samples", options.samples);
  size("repeats", options.repeats);
  return words;
}

// A study file is data that people pass on: it runs no program and asks no server unless the user says so.
void check_commands(const Study& study, bool allowed) {
  for (const Cell& cell : study.cells)
    for (const std::string& reward : {cell.options.reward, study.panels[cell.panel].label})
      if (!allowed && !reward.empty() && reaches_outside(reward))
        throw Error(ErrorCode::invalid_request,
                    fmt::format("study {}: a reward runs a program or asks a server: {}", study.name, reward),
                    "if you trust it, add --allow-exec");
}

}  // namespace

int study(const StudyOptions& options) {
  if (options.list) return list_studies();
  Interrupt interrupt;
  const std::stop_source stop;
  interrupt.watch([stop]() mutable { stop.request_stop(); });  // a copy: it may be called to the last
  const RewardOptions rewards = {.models = options.model, .patience = options.reward_patience};
  Study asked = read_study(find_study(options.study), {options.full, options.limit, options.samples, options.repeats});
  asked.asked = words_of(options);
  check_commands(asked, options.allow_exec);
  Runner runner({.rewards = rewards, .threads = threads_of(options.model)});
  Measurer measurer(runner, rewards);
  for (const Panel& panel : asked.panels) measurer.check({.label = panel.label, .judge = panel.judge});
  std::vector<Question> questions = read_task(find_task(asked.task));
  const StudyPlan plan = plan_study(std::move(asked), std::move(questions), runner);
  if (options.dry_run) return dry_run(plan, runner);

  RunStore store(options.store, RunStore::Access::write);
  const auto phase = [](const std::string& what) -> Runner::Progress {
    const auto counter = std::make_shared<Counter>(what);
    return [counter](std::size_t done, std::size_t all) { counter->show(done, all); };
  };
  const std::optional<StoredRun> run = run_study(plan, runner, measurer, store, phase, stop.get_token());
  if (run && !options.traces.empty()) write_traces(plan, runner, options.traces, phase("traces"), stop.get_token());
  if (!run || stop.stop_requested()) {
    fmt::print(stderr, "pgdlm: interrupted: what is finished is in {}; the same command goes on\n", options.store);
    return kExitInterrupted;
  }
  print(read_finished(*run, store));
  return 0;
}

int report(const ReportOptions& options) {
  const RunStore store(options.store, RunStore::Access::read);
  std::vector<FinishedStudy> chosen;
  for (const std::string& name : options.studies) chosen.push_back(find_finished(name, store, options.store));
  if (options.studies.empty()) chosen = all_finished(store);
  if (chosen.empty())
    throw Error(ErrorCode::invalid_request, fmt::format("there is no finished study in '{}'", options.store),
                "run one first: pgdlm study --list lists them");
  const std::string machine = fmt::format("{}, {} cores", processor(), usable_cores());
  Traces traces{.folder = options.traces};
  if (!options.traces.empty()) {
    const std::filesystem::path page = std::filesystem::absolute(options.out).parent_path();
    traces.link = std::filesystem::absolute(options.traces).lexically_relative(page).generic_string();
  }
  write_whole_file(options.out, html_report(chosen, machine, traces), "out");
  if (!options.csv.empty()) write_whole_file(options.csv, csv_of(chosen, numbers_of), "csv");
  if (!options.figures.empty()) write_figures(chosen, options.figures);
  if (!options.texts.empty()) write_whole_file(options.texts, csv_of(chosen, text_numbers_of), "csv-texts");
  fmt::print("{}: {} {}\n", options.out, chosen.size(), chosen.size() == 1 ? "study" : "studies");
  return 0;
}

}  // namespace pgdlm::cli
