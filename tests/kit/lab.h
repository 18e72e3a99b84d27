// Where laws are checked: a world that can be opened again and again, and the exact laws of what production samplers
// do in it, found by enumerating every outcome of every draw.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "kit/table_world.h"
#include "smc/samplers.h"

namespace pgdlm::kit {

using Law = std::map<Trail, double>;

struct Lab {
  std::function<std::unique_ptr<World>(Source&)> open;
  std::function<Trail(const World&, NodeId)> trail;
  Schedule schedule;
};

Lab table_lab(const Table& table, TableWorld::Habit habit = TableWorld::Habit::none);  // the table outlives the lab

// p over paths with their values (a sweep of one), and what it is tilted by.
struct Base {
  Law law;
  std::map<Trail, double> rewards;
  double evidence(double power) const;  // Z = Σ p exp(power·r/β)
  Law target(double power) const;       // p exp(power·r/β) / Z
  double beta = 1;
};
Base base_of(const Lab& lab, const Plan& plan);

struct Finding {
  double tv = 0;              // between one sweep applied to the target, and the target; over paths with their values
  double states_tv = 0;       // the same over states alone
  double evidence_error = 0;  // E[1/Ẑ]·Z - 1
  std::int64_t leaves = 0;
};

// One sweep of plan's particle Gibbs, started from p exp(power·r/β). Power 1 is p*, power 2 what the paper's listing
// leaves invariant.
Finding invariance(const Lab& lab, Plan plan, double power = 1);

// E[Ẑ]/Z - 1 of a sampler without a reference.
double evidence_bias(const Lab& lab, Plan plan);

// The law of what plan's sampler returns, its start included.
Law output_law(const Lab& lab, const Plan& plan);

// The kernel of one conditional sweep and selection: start path -> law of the next. Table worlds only.
std::map<Trail, Law> kernel_of(const Table& table, Plan plan);
Law after(const std::map<Trail, Law>& kernel, const Law& law);

}  // namespace pgdlm::kit
