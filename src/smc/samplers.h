// The samplers: what to sweep, how often, and which particle to return. They differ in a few lines each.
#pragma once

#include <vector>

#include "pgdlm/answer.h"
#include "smc/sweep.h"

namespace pgdlm {

struct Outcome {
  Status status = Status::done;
  NodeId leaf{};
  double reward = 0;
  Cloud cloud;        // the last complete sweep
  int sweeps = 0;     // the start included
  int particles = 0;  // n, as the paper counts them: k a sweep, 1 for a greedy start, 0 for a sampled one
};

// Runs plan.method. Requires a validated plan (see check_plan).
Task<Outcome> run_sampler(Run run, Plan plan, Schedule schedule);

Task<Outcome> single_sweep(Run run, Plan plan, Schedule schedule);    // greedy, best-of-n, SMC
Task<Outcome> particle_gibbs(Run run, Plan plan, Schedule schedule);  // fixed or adaptive

// Throws Error{invalid_request} that names the field, its value and what is allowed.
void check_plan(const Plan& plan);

}  // namespace pgdlm
