// What is found out about finished texts: whether a classifier gives them its label, whether a judge agrees, how well
// the model that wrote them knows them. Kept in the store like the texts, so it is done once, and goes on after an
// interruption with the same bytes.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "eval/evaluation.h"
#include "eval/gauges.h"
#include "eval/store.h"
#include "rewards/open_reward.h"

namespace pgdlm {

struct Measurement {
  std::string label;   // CLASSIFIER:LABEL; empty: not asked
  std::string judge;   // JUDGE:LABEL; the same
  int perplexity = 0;  // draws of the bound for each text; 0: not asked

  bool empty() const { return label.empty() && judge.empty() && perplexity == 0; }
};

// Classifiers, judges and denoisers, each opened once. Used on one thread.
class Measurer {
 public:
  Measurer(Runner& runner, RewardOptions options);  // the runner, whose denoisers it borrows, outlives it
  ~Measurer();

  // Names that are not there are an error now, not after hours of work.
  void check(const Measurement& measurement);
  // Of a finished evaluation: whatever the store does not have yet. Returns the run that holds it; stopped, it may miss
  // some.
  StoredRun measure(const Measurement& measurement, const Evaluation& evaluation, const StoredRun& run, RunStore& store,
                    const std::stop_token& stop);

 private:
  struct Tools;
  std::unique_ptr<Tools> tools_;
};

// What tells the files that a measurement reads from others of the same name.
std::string files_mark(const Measurement& measurement);

// Fills in what `run` found out about these texts. Error{invalid_request} if it is not finished.
void add_measured(std::span<Text> texts, const StoredRun& run, const RunStore& store);

}  // namespace pgdlm
