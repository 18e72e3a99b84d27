#include "eval/study_run.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "eval/mark.h"
#include "events/sinks.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kName = "study";
constexpr std::uint64_t kSeedsApart = 1'000'000;  // of repeats: more than an evaluation has texts

Measurement measurement_of(const Study& study, const Cell& cell) {
  const Panel& panel = study.panels[cell.panel];
  return {.label = panel.label, .judge = panel.judge, .perplexity = study.perplexity};
}

std::string plan_of(const StudyPlan& plan) {
  std::string plans;  // all that texts depend on: prompts, files, every choice
  for (const Evaluation& evaluation : plan.evaluations) plans += to_plan(evaluation);
  return ordered_json{{"name", plan.study.name},
                      {"definition", ordered_json::parse(plan.study.definition)},
                      {"plans", text_mark(plans)}}
      .dump();
}

// Reveals per step are as likely at every step of MDLM: so many steps change something (algorithms.md 1.9). ReMDM takes
// back about eta * T / 2 of what was revealed, and reveals it again.
double expected_steps(const GenerateOptions& o) {
  const double steps = *o.diffusion_steps;
  if (o.process == Process::llada || o.process == Process::dream) return steps;
  double reveals = o.n_predict.value_or(1);
  if (o.process == Process::remdm) reveals *= 1 + o.eta.value_or(0) * steps / 2;
  return steps * -std::expm1(-reveals / steps);
}

}  // namespace

StudyPlan plan_study(Study study, std::vector<Question> questions, Runner& runner) {
  if (study.limit > 0 && static_cast<std::size_t>(study.limit) < questions.size())
    questions.resize(static_cast<std::size_t>(study.limit));
  StudyPlan plan{.study = std::move(study), .questions = std::move(questions)};
  for (Cell& cell : plan.study.cells) {
    for (int repeat = 0; repeat < plan.study.repeats; ++repeat) {
      GenerateOptions options = cell.options;
      options.seed += static_cast<std::uint64_t>(repeat) * kSeedsApart;
      plan.evaluations.push_back(
          plan_evaluation(plan.study.task, plan.questions, plan.study.samples, std::move(options), runner));
    }
  }
  return plan;
}

double expected_forwards(const Evaluation& evaluation) {
  const GenerateOptions& o = evaluation.options;
  const double steps = expected_steps(o), k = *o.particles;
  double paths = 1;
  switch (*o.method) {
    case Method::greedy: break;
    case Method::best_of_n:
    case Method::smc: paths = k; break;
    case Method::particle_gibbs:
    case Method::particle_gibbs_adaptive: {
      const double start = o.start == Start::smc ? k : 1;
      const double sweeps = *o.iterations - (o.start == Start::smc ? 1 : 0);
      paths = start + sweeps * (k - 1);
      if (o.budget) paths = std::min(paths, static_cast<double>(*o.budget));
    }
  }
  const bool looks_ahead = *o.method != Method::greedy && *o.method != Method::best_of_n;
  const double ahead = looks_ahead ? (*o.tau - 1.0) * (o.estimator == Estimator::random ? *o.phi : 1) : 0;
  const auto texts = static_cast<double>(evaluation.questions.size()) * evaluation.samples;
  return texts * paths * steps * (1 + ahead);
}

bool run_study(const StudyPlan& plan, Runner& runner, Measurer& measurer, RunStore& store, const Phase& phase,
               const std::stop_token& stop) {
  const auto count = static_cast<int>(plan.evaluations.size());
  const StoredRun study = store.begin(kName, plan_of(plan), count);
  std::vector<Order> orders;
  for (const Evaluation& evaluation : plan.evaluations)
    orders.push_back({begin(store, evaluation), items_of(evaluation)});
  runner.run(orders, store, phase("texts"), stop);

  const std::map<int, StoredItem> known = store.items(study);
  const Runner::Progress progress = phase("measurements");
  for (int i = 0; i < count && !stop.stop_requested(); ++i) {
    progress(static_cast<std::size_t>(i), static_cast<std::size_t>(count));
    if (known.contains(i)) continue;
    const Cell& cell = plan.study.cells[static_cast<std::size_t>(i / plan.study.repeats)];
    const Measurement wanted = measurement_of(plan.study, cell);
    ordered_json item = {{"eval", orders[static_cast<std::size_t>(i)].run.id}};
    if (!wanted.empty()) {
      const StoredRun run = measurer.measure(wanted, plan.evaluations[static_cast<std::size_t>(i)],
                                             orders[static_cast<std::size_t>(i)].run, store, stop);
      if (run.done < run.items) return false;
      item["measure"] = run.id;
    }
    store.add(study, i, {item.dump(), {}});
  }
  return !stop.stop_requested();
}

std::filesystem::path trace_name(const Study& study, std::size_t cell) {
  return fmt::format("{}-{}.jsonl", study.name, cell + 1);
}

void write_traces(const StudyPlan& plan, Runner& runner, const std::filesystem::path& folder,
                  const Runner::Progress& progress, const std::stop_token& stop) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (std::size_t cell = 0; cell < plan.study.cells.size() && !stop.stop_requested(); ++cell) {
    progress(cell, plan.study.cells.size());
    const std::filesystem::path file = folder / trace_name(plan.study, cell), beside = file.string() + ".part";
    if (std::filesystem::exists(file, failed)) continue;
    std::ofstream out(beside, std::ios::trunc);
    if (!out)
      throw Error(ErrorCode::invalid_request, fmt::format("traces: '{}' cannot be written", beside.string()),
                  "name a folder with --traces");
    JsonlSink sink(out);
    runner.trace(items_of(plan.evaluations[cell * static_cast<std::size_t>(plan.study.repeats)]).front(), sink);
    out.close();
    std::filesystem::rename(beside, file);
  }
}

namespace {

FinishedStudy finished(const StoredRun& run, const std::map<std::int64_t, StoredRun>& runs, const RunStore& store) try {
  const json plan = json::parse(run.plan);
  FinishedStudy found{.study = parse_study(plan.at("definition").dump(), plan.at("name")), .begun = run.begun};
  std::vector<std::vector<Text>> repeats;  // of the cell at hand
  for (const auto& [number, item] : store.items(run)) {
    const json parts = json::parse(item.result);
    const StoredRun& texts_run = runs.at(parts.at("eval"));
    const Evaluation evaluation = evaluation_of(texts_run);
    std::vector<Text> texts = texts_of(texts_run, store);
    if (parts.contains("measure")) add_measured(texts, runs.at(parts.at("measure")), store);
    if (found.questions.empty()) found.questions = evaluation.questions;
    repeats.push_back(std::move(texts));
    if (static_cast<int>(repeats.size()) < found.study.repeats) continue;
    FinishedCell cell{.cell = found.study.cells.at(found.cells.size())};
    cell.cell.options = evaluation.options;
    const auto samples = static_cast<std::size_t>(evaluation.samples);
    for (std::size_t question = 0; question < found.questions.size(); ++question)
      for (const std::vector<Text>& repeat : repeats)
        cell.texts.insert(cell.texts.end(), repeat.begin() + static_cast<std::ptrdiff_t>(question * samples),
                          repeat.begin() + static_cast<std::ptrdiff_t>((question + 1) * samples));
    found.cells.push_back(std::move(cell));
    repeats.clear();
  }
  return found;
} catch (const std::exception& e) {
  throw Error(ErrorCode::invalid_request, fmt::format("run {}: this study cannot be read: {}", run.id, e.what()));
}

// Of each question, the texts of one repeat.
std::vector<Text> texts_of_repeat(const FinishedStudy& study, const FinishedCell& cell, int repeat) {
  const auto samples = static_cast<std::size_t>(study.study.samples);
  const std::size_t per_question = samples * static_cast<std::size_t>(study.study.repeats);
  std::vector<Text> texts;
  for (std::size_t question = 0; question < study.questions.size(); ++question) {
    const auto first = cell.texts.begin() + static_cast<std::ptrdiff_t>(question * per_question +
                                                                        static_cast<std::size_t>(repeat) * samples);
    texts.insert(texts.end(), first, first + static_cast<std::ptrdiff_t>(samples));
  }
  return texts;
}

}  // namespace

const FinishedCell* FinishedStudy::find(std::size_t panel, const std::string& series, double at) const {
  for (const FinishedCell& cell : cells)
    if (cell.cell.panel == panel && study.series[cell.cell.series] == series && cell.cell.at == at) return &cell;
  return nullptr;
}

std::vector<FinishedStudy> finished_studies(const RunStore& store) {
  std::map<std::int64_t, StoredRun> runs;
  for (StoredRun& run : store.runs()) runs.emplace(run.id, std::move(run));
  std::vector<FinishedStudy> found;
  for (const auto& [id, run] : runs) {
    if (run.name != kName || run.done < run.items) continue;
    FinishedStudy study = finished(run, runs, store);
    std::erase_if(found, [&](const FinishedStudy& older) { return older.study.name == study.study.name; });
    found.push_back(std::move(study));
  }
  return found;
}

std::string describe_study_run(const StoredRun& run) try {
  const json plan = json::parse(run.plan);
  if (run.name == kName) return fmt::format("study {}, its evaluations", plan.at("name").get<std::string>());
  std::string what;
  for (const char* key : {"label", "judge"})
    if (const std::string name = plan.at(key); !name.empty()) what += fmt::format(" {} {}", key, name);
  if (plan.at("perplexity") > 0) what += " perplexity";
  return fmt::format("{} of texts:{}", run.name, what);
} catch (const json::exception&) {
  return fmt::format("run {}: its plan cannot be read", run.id);
}

std::optional<Measured> measured(const FinishedStudy& study, const FinishedCell& cell, const Gauge& gauge) {
  const std::optional<Mean> mean = mean_of_groups(groups_of(gauge, study.questions, cell.texts));
  if (!mean) return std::nullopt;
  Measured out{.mean = readable(gauge, *mean)};
  if (study.study.repeats < 2) return out;
  Groups by_repeat;
  for (int repeat = 0; repeat < study.study.repeats; ++repeat) {
    const std::optional<Mean> one =
        mean_of_groups(groups_of(gauge, study.questions, texts_of_repeat(study, cell, repeat)));
    if (one) by_repeat.push_back({readable(gauge, *one).value});
  }
  const std::optional<Mean> spread = mean_of_groups(by_repeat);
  if (spread && spread->error) out.deviation = *spread->error * std::sqrt(static_cast<double>(by_repeat.size()));
  return out;
}

}  // namespace pgdlm
