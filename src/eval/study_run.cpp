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

Measurement measurement_of(const Study& study, const Cell& cell) {
  const Panel& panel = study.panels[cell.panel];
  return {.label = panel.label, .judge = panel.judge, .perplexity = study.perplexity};
}

std::string plan_of(const StudyPlan& plan) {
  std::string plans;  // all that figures depend on: prompts, files, every choice
  for (const Evaluation& evaluation : plan.evaluations) plans += to_plan(evaluation);
  for (const Cell& cell : plan.study.cells) plans += files_mark(measurement_of(plan.study, cell));
  return ordered_json{{"name", plan.study.name},
                      {"asked", plan.study.asked},
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
  for (const Cell& cell : plan.study.cells)
    for (int repeat = 0; repeat < plan.study.repeats; ++repeat)
      plan.evaluations.push_back(
          plan_evaluation(plan.study.task, plan.questions, plan.study.samples, repeated(cell.options, repeat), runner));
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
  // An estimate reads the prediction that the next step needs anyway; only looking further costs more.
  const bool looks_ahead = *o.method != Method::greedy && *o.method != Method::best_of_n && *o.tau > 1;
  const double every = o.resample_every->blocks() ? *o.diffusion_steps : o.resample_every->every;
  const double weighings = std::min(steps, *o.diffusion_steps / every);
  const double ahead = looks_ahead ? weighings * (*o.tau - 1.0) * *o.phi : 0;
  const auto texts = static_cast<double>(evaluation.questions.size()) * evaluation.samples;
  return texts * paths * (steps + ahead);
}

std::optional<StoredRun> run_study(const StudyPlan& plan, Runner& runner, Measurer& measurer, RunStore& store,
                                   const Phase& phase, const std::stop_token& stop) {
  const std::size_t count = plan.evaluations.size();
  const std::string known_by = plan_of(plan);
  const StoredRun study = store.begin(kName, known_by, static_cast<int>(count));
  std::vector<StoredRun> runs;
  std::vector<Order> orders;
  for (const Evaluation& evaluation : plan.evaluations) {
    runs.push_back(begin(store, evaluation));
    // Two cells may ask for the same texts, and differ in what is measured of them.
    const bool ordered = std::ranges::any_of(orders, [&](const Order& o) { return o.run.id == runs.back().id; });
    if (!ordered) orders.push_back({runs.back(), items_of(evaluation)});
  }
  runner.run(orders, store, phase("texts"), stop);

  const std::map<int, StoredItem> known = store.items(study);
  const Runner::Progress progress = phase("measurements");
  for (std::size_t i = 0; i < count; ++i) {
    if (stop.stop_requested()) return std::nullopt;
    progress(i, count);
    if (known.contains(static_cast<int>(i))) continue;
    const Cell& cell = plan.study.cells[i / static_cast<std::size_t>(plan.study.repeats)];
    const Measurement wanted = measurement_of(plan.study, cell);
    ordered_json item = {{"eval", runs[i].id}};
    if (!wanted.empty()) {
      const StoredRun run = measurer.measure(wanted, plan.evaluations[i], runs[i], store, stop);
      if (run.done < run.items) return std::nullopt;
      item["measure"] = run.id;
    }
    store.add(study, static_cast<int>(i), {item.dump(), {}});
  }
  return store.begin(kName, known_by, static_cast<int>(count));
}

std::filesystem::path trace_name(const std::string& study, const Evaluation& evaluation) {
  constexpr std::size_t kEnough = 12;
  return fmt::format("{}-{}.jsonl", study, text_mark(to_plan(evaluation)).substr(0, kEnough));
}

void write_traces(const StudyPlan& plan, Runner& runner, const std::filesystem::path& folder,
                  const Runner::Progress& progress, const std::stop_token& stop) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (std::size_t cell = 0; cell < plan.study.cells.size() && !stop.stop_requested(); ++cell) {
    progress(cell, plan.study.cells.size());
    const Evaluation& evaluation = plan.evaluations[cell * static_cast<std::size_t>(plan.study.repeats)];
    const std::filesystem::path file = folder / trace_name(plan.study.name, evaluation);
    const std::filesystem::path beside = file.string() + ".part";
    if (std::filesystem::exists(file, failed)) continue;
    std::ofstream out(beside, std::ios::trunc);
    if (!out)
      throw Error(ErrorCode::invalid_request, fmt::format("traces: '{}' cannot be written", beside.string()),
                  "name a folder with --traces");
    JsonlSink sink(out);
    runner.trace(items_of(evaluation).front(), sink);
    out.close();
    std::filesystem::rename(beside, file);
  }
}

namespace {

std::map<std::int64_t, StoredRun> runs_by_id(const RunStore& store) {
  std::map<std::int64_t, StoredRun> runs;
  for (StoredRun& run : store.runs()) runs.emplace(run.id, std::move(run));
  return runs;
}

int texts_in(const StoredRun& study, const std::map<std::int64_t, StoredRun>& runs, const RunStore& store) {
  int texts = 0;
  for (const auto& [number, item] : store.items(study)) {
    const json parts = json::parse(item.result, nullptr, false);
    if (!parts.is_object() || !parts.contains("eval") || !parts["eval"].is_number_integer()) continue;
    if (const auto run = runs.find(parts["eval"]); run != runs.end()) texts += run->second.items;
  }
  return texts;
}

// The texts of a question together, repeat after repeat.
std::vector<Text> pooled(const Repeats& repeats, std::size_t questions) {
  std::vector<Text> texts;
  const std::size_t samples = repeats.front().size() / questions;
  for (std::size_t question = 0; question < questions; ++question)
    for (const std::vector<Text>& repeat : repeats) {
      const auto first = repeat.begin() + static_cast<std::ptrdiff_t>(question * samples);
      texts.insert(texts.end(), first, first + static_cast<std::ptrdiff_t>(samples));
    }
  return texts;
}

// What pooled put together.
Repeats repeats_of(const FinishedStudy& study, const FinishedCell& cell) {
  const auto samples = static_cast<std::size_t>(study.study.samples);
  Repeats repeats(static_cast<std::size_t>(study.study.repeats));
  for (auto first = cell.texts.begin(); first != cell.texts.end();)
    for (std::vector<Text>& repeat : repeats) {
      repeat.insert(repeat.end(), first, first + static_cast<std::ptrdiff_t>(samples));
      first += static_cast<std::ptrdiff_t>(samples);
    }
  return repeats;
}

}  // namespace

const FinishedCell* FinishedStudy::find(std::size_t panel, const std::string& series, double at) const {
  for (const FinishedCell& cell : cells)
    if (cell.cell.panel == panel && study.series[cell.cell.series] == series && cell.cell.at == at) return &cell;
  return nullptr;
}

std::map<std::string, StoredRun> finished_studies(const RunStore& store) {
  const std::map<std::int64_t, StoredRun> runs = runs_by_id(store);
  std::map<std::string, StoredRun> found;
  std::map<std::string, int> most_texts;
  for (const auto& [id, run] : runs) {
    if (run.name != kName || run.done < run.items) continue;
    const json plan = json::parse(run.plan, nullptr, false);
    const auto name = plan.is_object() ? plan.find("name") : plan.end();
    if (name == plan.end() || !name->is_string()) continue;
    int& most = most_texts[name->get<std::string>()];
    const int texts = texts_in(run, runs, store);
    if (texts < most) continue;
    most = texts;
    found.insert_or_assign(name->get<std::string>(), run);
  }
  return found;
}

FinishedStudy read_finished(const StoredRun& study, const RunStore& store) try {
  const ordered_json plan =
      ordered_json::parse(study.plan);  // in the order of the file: the first list of `vary` counts
  FinishedStudy found{.study = parse_study(plan.at("definition").dump(), plan.at("name"))};
  found.study.asked = plan.value("asked", found.study.name);
  const std::map<std::int64_t, StoredRun> runs = runs_by_id(store);
  Repeats repeats;  // of the cell at hand
  FinishedCell cell;
  for (const auto& [number, item] : store.items(study)) {
    const json parts = json::parse(item.result);
    const StoredRun& run = runs.at(parts.at("eval"));
    const Evaluation evaluation = evaluation_of(run);
    std::vector<Text> texts = texts_of(run, store);
    if (parts.contains("measure")) add_measured(texts, runs.at(parts.at("measure")), store);
    if (found.questions.empty()) found.questions = evaluation.questions;
    if (repeats.empty()) {
      cell = {.cell = found.study.cells.at(found.cells.size()), .trace = trace_name(found.study.name, evaluation)};
      cell.cell.options = evaluation.options;
    }
    repeats.push_back(std::move(texts));
    if (static_cast<int>(repeats.size()) < found.study.repeats) continue;
    cell.texts = pooled(repeats, found.questions.size());
    found.cells.push_back(std::exchange(cell, {}));
    repeats.clear();
  }
  return found;
} catch (const std::exception& e) {
  throw Error(ErrorCode::invalid_request, fmt::format("run {}: this study cannot be read: {}", study.id, e.what()));
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

Groups groups_of_cell(const FinishedStudy& study, const FinishedCell& cell, const Gauge& gauge) {
  return groups_of(gauge, study.questions, repeats_of(study, cell));
}

std::optional<Measured> measured(const FinishedStudy& study, const FinishedCell& cell, const Gauge& gauge) {
  return measured(gauge, study.questions, repeats_of(study, cell));
}

}  // namespace pgdlm
