// What a request returns, whatever happened to it: the chosen text, every weighted candidate, evidence and cost.
#pragma once

#include <string>
#include <vector>

#include "pgdlm/events.h"
#include "pgdlm/plan.h"

namespace pgdlm {

enum class Status { done, degenerate, budget_spent, cancelled };

struct ScoredText {
  std::vector<Token> tokens;
  double reward = 0;
  double log_weight = 0;  // normalised over the candidates
};

struct Answer {
  Status status = Status::done;
  std::vector<Token> tokens;
  int prompt = 0;  // so many of them were given
  double reward = 0;
  std::vector<ScoredText> candidates;  // the last sweep's particles
  double log_z = 0;                    // log evidence of the last sweep
  Selection selection = Selection::draw;
  int sweeps = 0;     // sweeps run, the start included
  int particles = 0;  // n, as the paper counts them: k a sweep, 1 for a greedy start, 0 for a sampled one
  std::uint64_t seed = 0;
  Cost cost;
};

}  // namespace pgdlm
