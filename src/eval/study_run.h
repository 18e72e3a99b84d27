// Carries a study out, and reads what was found. A store knows a study by its definition and the files it reads; each
// of its items is one evaluation with what was measured of its texts.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "eval/evaluation.h"
#include "eval/measurement.h"
#include "eval/study.h"

namespace pgdlm {

// The evaluations of a study: every repeat of the first cell, then of the second, and so on.
struct StudyPlan {
  Study study;
  std::vector<Question> questions;
  std::vector<Evaluation> evaluations;
};
StudyPlan plan_study(Study study, std::vector<Question> questions, Runner& runner);

// What it will cost, one evaluation at a time: different forwards, as the method and the process make them likely; of
// pg-adapt, if it never stops early.
double expected_forwards(const Evaluation& evaluation);

// Nothing if it was stopped before the end. `phase` hears what is going on now.
using Phase = std::function<Runner::Progress(const std::string& what)>;
std::optional<StoredRun> run_study(const StudyPlan& plan, Runner& runner, Measurer& measurer, RunStore& store,
                                   const Phase& phase, const std::stop_token& stop);

// Of each cell the first text, as a trace that `pgdlm replay` plays. Those that are there already are kept.
void write_traces(const StudyPlan& plan, Runner& runner, const std::filesystem::path& folder,
                  const Runner::Progress& progress, const std::stop_token& stop);
std::filesystem::path trace_name(const std::string& study, const Evaluation& evaluation);  // within that folder

// A cell with all of its texts: those of a question together, repeat after repeat.
struct FinishedCell {
  Cell cell;  // its options are settled
  std::vector<Text> texts;
  std::filesystem::path trace;  // trace_name
};
struct FinishedStudy {
  Study study;
  std::vector<Question> questions;
  std::vector<FinishedCell> cells;

  const FinishedCell* find(std::size_t panel, const std::string& series, double at) const;  // null: none
};

// The studies of a store that are finished, by name; of several with the same name the largest, then the last.
std::map<std::string, StoredRun> finished_studies(const RunStore& store);
// Error{invalid_request} if another version has written it.
FinishedStudy read_finished(const StoredRun& study, const RunStore& store);

// What `pgdlm runs` says of a run that is no evaluation.
std::string describe_study_run(const StoredRun& run);

// A figure of a cell.
std::optional<Measured> measured(const FinishedStudy& study, const FinishedCell& cell, const Gauge& gauge);
// Values by question, of all repeats.
Groups groups_of_cell(const FinishedStudy& study, const FinishedCell& cell, const Gauge& gauge);

}  // namespace pgdlm
