#include "smc/samplers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"

namespace pgdlm {
namespace {

// Labels of a run's sweeps and of the draw that picks a particle after one.
enum Purpose : std::uint64_t { kSweep = 1, kSelect };

struct Pick {
  NodeId leaf{};
  double reward = -std::numeric_limits<double>::infinity();
  int slot = 0;
};

Pick at(const Cloud& cloud, int slot) {
  const Particle& p = cloud.particles[static_cast<std::size_t>(slot)];
  return {p.node, p.value, slot};
}

Weights weights_of(const Cloud& cloud) {
  std::vector<double> log_weights;
  for (const Particle& p : cloud.particles) log_weights.push_back(p.log_weight);
  return Weights(log_weights);
}

// Highest reward, lowest slot among equals. NaN (possible under fk arithmetic) loses against everything.
Pick best_of(const Cloud& cloud) {
  int best = 0;
  for (int slot = 1; slot < static_cast<int>(cloud.particles.size()); ++slot) {
    const double here = at(cloud, slot).reward, there = at(cloud, best).reward;
    if (here > there || (std::isnan(there) && !std::isnan(here))) best = slot;
  }
  return at(cloud, best);
}

// The next state of the chain: a draw from the last weights (Algorithm 1, line 17). If nothing has weight, the
// reference stays; without one, the best there is.
Pick draw_from(const Cloud& cloud, Draws& draws) {
  const Weights w = weights_of(cloud);
  if (!w.degenerate()) return at(cloud, draws.categorical(w.probs()));
  return cloud.reference >= 0 ? at(cloud, cloud.reference) : best_of(cloud);
}

Run sweep_run(const Run& run, int number) {
  Run r = run;
  r.sweep = number;
  r.key = run.key.child(kSweep).child(static_cast<std::uint64_t>(number));
  return r;
}

Key select_key(const Run& run, int number) { return run.key.child(kSelect).child(static_cast<std::uint64_t>(number)); }

Plan with_scheme(Plan plan) {
  if (!plan.scheme) plan.scheme = find_scheme("systematic");
  return plan;
}

// What stands when a run ends: the chain's state, the best ever seen and the last complete set of particles.
struct Chain {
  Selection selection;
  Cloud cloud;
  Pick state, best;
  int sweeps = 0, particles = 0;

  void take(Cloud next, const Run& run) {
    cloud = std::move(next);
    state = draw_from(cloud, *run.source.open(select_key(run, sweeps)));
    const Pick top = best_of(cloud);
    if (sweeps == 0 || top.reward > best.reward) best = top;
    const bool kept = cloud.reference >= 0 && state.leaf == at(cloud, cloud.reference).leaf;
    run.events.emit(Selected{sweeps, state.slot, state.reward, kept});
    ++sweeps;
  }

  // If the next sweep is cancelled, these are what is returned.
  std::vector<NodeId> leaves() const {
    std::vector<NodeId> leaves = {best.leaf};
    for (const Particle& p : cloud.particles) leaves.push_back(p.node);
    return leaves;
  }

  Pick answer() const {
    switch (selection) {
      case Selection::draw:
      case Selection::paper: return state;
      case Selection::argmax_last: return best_of(cloud);
      case Selection::argmax_all: return best;
    }
    return state;
  }

  Outcome outcome(Status status) const {
    const Pick pick = answer();
    const bool forbidden = pick.reward == -std::numeric_limits<double>::infinity();
    if (status == Status::done && (forbidden || weights_of(cloud).degenerate())) status = Status::degenerate;
    return {status, pick.leaf, pick.reward, cloud, sweeps, particles};
  }
};

// A run that was cancelled in its very first sweep has unfinished canvases only; the most promising one is returned.
Outcome unfinished(const Cloud& cloud) {
  const Pick pick = best_of(cloud);
  return {Status::cancelled, pick.leaf, pick.reward, cloud, 0, 0};
}

// How the first reference is made, and what it costs in particles (the sampled one sits in a slot of the first sweep).
Plan start_plan(Plan plan) {
  if (plan.start == Start::smc) return plan;
  plan.particles = 1;
  plan.proposal = plan.start == Start::greedy ? Proposal::greedy : Proposal::sample;
  return plan;
}
int start_particles(const Plan& plan) {
  return plan.start == Start::smc ? plan.particles : plan.start == Start::greedy ? 1 : 0;
}

bool budget_spent(const Plan& plan, int particles, const Cost& cost) {
  return particles > plan.max_particles - plan.particles || cost.forwards_asked >= plan.max_forwards ||
         cost.seconds >= plan.max_seconds;
}

}  // namespace

Task<Outcome> single_sweep(Run run, Plan plan, Schedule schedule) {
  Chain chain{.selection = plan.selection};
  Cloud cloud = co_await sweep(sweep_run(run, 0), plan, schedule, std::nullopt);
  if (!cloud.complete) co_return unfinished(cloud);
  chain.take(std::move(cloud), run);
  chain.particles = plan.particles;
  co_return chain.outcome(Status::done);
}

// Algorithm 1. The loop of the paper, with the start, the stopping rule and the selection as the plan says.
Task<Outcome> particle_gibbs(Run run, Plan plan, Schedule schedule) {
  Chain chain{.selection = plan.selection};
  Cloud start = co_await sweep(sweep_run(run, 0), start_plan(plan), schedule, std::nullopt);
  if (!start.complete) co_return unfinished(start);
  chain.take(std::move(start), run);

  chain.particles = start_particles(plan);
  const int first = plan.start == Start::smc ? 1 : 0;
  for (int iteration = first; iteration < plan.iterations; ++iteration) {
    if (plan.method == Method::particle_gibbs_adaptive && chain.answer().reward >= plan.threshold) break;
    if (budget_spent(plan, chain.particles, run.world.cost())) co_return chain.outcome(Status::budget_spent);

    Run next = sweep_run(run, chain.sweeps);
    next.held = chain.leaves();
    Cloud cloud = co_await sweep(next, plan, schedule, chain.state.leaf);
    if (!cloud.complete) co_return chain.outcome(Status::cancelled);
    chain.take(std::move(cloud), run);
    chain.particles += plan.particles;
  }
  co_return chain.outcome(Status::done);
}

Task<Outcome> run_sampler(Run run, Plan plan, Schedule schedule) {
  plan = with_scheme(plan);
  switch (plan.method) {
    case Method::greedy:
      plan.particles = 1;
      plan.proposal = Proposal::greedy;
      return single_sweep(std::move(run), plan, std::move(schedule));
    case Method::best_of_n: plan.max_events = 0; return single_sweep(std::move(run), plan, std::move(schedule));
    case Method::smc: return single_sweep(std::move(run), plan, std::move(schedule));
    case Method::particle_gibbs:
    case Method::particle_gibbs_adaptive: return particle_gibbs(std::move(run), plan, std::move(schedule));
  }
  throw Error(ErrorCode::internal, "unknown method");
}

}  // namespace pgdlm
