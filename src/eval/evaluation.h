// One method asked all questions of a task: the plan that a store knows it by, and back.
#pragma once

#include <string>
#include <vector>

#include "eval/gauges.h"
#include "eval/runner.h"
#include "eval/store.h"
#include "eval/task.h"
#include "options/options.h"

namespace pgdlm {

struct Evaluation {
  std::string task;
  int samples = 1;          // of each question
  GenerateOptions options;  // settled; without a prompt
  std::string files;        // Runner::files_mark
  std::vector<Question> questions;
};

// The same with other seeds: of no text the same as in another repeat.
GenerateOptions repeated(GenerateOptions options, int repeat);

// Settles the options. Error{invalid_request} names a question that does not fit the model.
Evaluation plan_evaluation(std::string task, std::vector<Question> questions, int samples, GenerateOptions options,
                           Runner& runner);
// One request for each text: sample j of question i has the seed seed + i * samples + j.
std::vector<GenerateOptions> items_of(const Evaluation& evaluation);

std::string to_plan(const Evaluation& evaluation);  // JSON
StoredRun begin(RunStore& store, const Evaluation& evaluation);
// Error{invalid_request} if the run is none.
Evaluation evaluation_of(const StoredRun& run);

// All that it made, in the order of items_of; Error{invalid_request} if some are missing.
std::vector<Text> texts_of(const StoredRun& run, const RunStore& store);

}  // namespace pgdlm
