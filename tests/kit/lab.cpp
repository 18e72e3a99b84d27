#include "kit/lab.h"

#include <cmath>

#include "kit/enumerate.h"

namespace pgdlm::kit {
namespace {

const Key kRunKey{.seed = 1, .path = 7};

struct Silent : EventSink {
  void emit(const Event&) override {}
};

// Sees what the start of a particle Gibbs run selected.
struct StartSpy : EventSink {
  double reward = 0;
  std::function<void()> at_start = [] {};
  void emit(const Event& event) override {
    if (const auto* selected = std::get_if<Selected>(&event); selected && selected->sweep == 0) {
      reward = selected->reward;
      at_start();
    }
  }
};

Outcome run(const Lab& lab, World& world, Source& source, EventSink& sink, const Plan& plan) {
  return run_inline(run_sampler(Run{world, source, sink, kRunKey}, plan, lab.schedule));
}

Plan one_sweep(Plan plan) {
  plan.method = Method::particle_gibbs;
  plan.start = Start::sampled;
  plan.iterations = 1;
  return plan;
}

std::map<std::vector<int>, double> states_only(const Law& law) {
  std::map<std::vector<int>, double> states;
  for (const auto& [trail, p] : law) states[trail.states] += p;
  return states;
}

}  // namespace

Lab table_lab(const Table& table, TableWorld::Habit habit) {
  const auto open = [&table, habit](Source& source) -> std::unique_ptr<World> {
    auto world = std::make_unique<TableWorld>(table, source);
    world->habit = habit;
    return world;
  };
  const auto trail = [](const World& world, NodeId leaf) { return static_cast<const TableWorld&>(world).trail(leaf); };
  return {open, trail, table_schedule(table)};
}

double Base::evidence(double power) const {
  double z = 0;
  for (const auto& [trail, p] : law) z += p * std::exp(power * rewards.at(trail) / beta);
  return z;
}

Law Base::target(double power) const {
  Law target;
  const double z = evidence(power);
  for (const auto& [trail, p] : law) target[trail] = p * std::exp(power * rewards.at(trail) / beta) / z;
  return target;
}

Base base_of(const Lab& lab, const Plan& plan) {
  Base base{.beta = plan.beta};
  Plan alone = plan;
  alone.method = Method::smc;
  alone.particles = 1;
  alone.selection = Selection::draw;
  alone.resample_last = false;
  enumerate(
      [&](Source& source) {
        Silent silent;
        const auto world = lab.open(source);
        const Outcome outcome = run(lab, *world, source, silent, alone);
        return std::pair{lab.trail(*world, outcome.leaf), outcome.reward};
      },
      [&](std::pair<Trail, double> end, double probability) {
        base.law[end.first] += probability;
        base.rewards[end.first] = end.second;
      });
  return base;
}

Finding invariance(const Lab& lab, Plan plan, double power) {
  plan = one_sweep(plan);
  const Base base = base_of(lab, plan);
  const double z = base.evidence(power);
  Law reached;
  double inverse_evidence = 0;
  Finding finding;
  struct End {
    Trail trail;
    double start_weight, log_z;
  };
  finding.leaves = enumerate(
      [&](Source& source) -> End {
        StartSpy spy;
        const auto world = lab.open(source);
        const Outcome outcome = run(lab, *world, source, spy, plan);
        // The start is a draw from p; weighted so, it is a draw from the target.
        return {lab.trail(*world, outcome.leaf), std::exp(power * spy.reward / plan.beta) / z, outcome.cloud.log_z};
      },
      [&](End end, double probability) {
        reached[end.trail] += probability * end.start_weight;
        inverse_evidence += probability * end.start_weight * std::exp(-end.log_z);
      });
  const Law target = base.target(power);
  finding.tv = total_variation(reached, target);
  finding.states_tv = total_variation(states_only(reached), states_only(target));
  finding.evidence_error = inverse_evidence * z - 1;
  return finding;
}

double evidence_bias(const Lab& lab, Plan plan) {
  const double z = base_of(lab, plan).evidence(1);
  const double mean = expectation_of([&](Source& source) {
    Silent silent;
    const auto world = lab.open(source);
    return std::exp(run(lab, *world, source, silent, plan).cloud.log_z);
  });
  return mean / z - 1;
}

Law output_law(const Lab& lab, const Plan& plan) {
  return law_of([&](Source& source) {
    Silent silent;
    const auto world = lab.open(source);
    const Outcome outcome = run(lab, *world, source, silent, plan);
    return lab.trail(*world, outcome.leaf);
  });
}

std::map<Trail, Law> kernel_of(const Table& table, Plan plan) {
  plan = one_sweep(plan);
  const Lab lab = table_lab(table);
  std::map<Trail, Law> joint;
  enumerate(
      [&](Source& source) {
        TableWorld world(table, source);
        Trail start;
        StartSpy spy;
        spy.at_start = [&] { start = world.trail(world.newest()); };
        const Outcome outcome = run(lab, world, source, spy, plan);
        return std::pair{start, world.trail(outcome.leaf)};
      },
      [&](std::pair<Trail, Trail> ends, double probability) { joint[ends.first][ends.second] += probability; });
  for (auto& [start, law] : joint) {
    const double mass = total_mass(law);
    for (auto& entry : law) entry.second /= mass;
  }
  return joint;
}

Law after(const std::map<Trail, Law>& kernel, const Law& law) {
  Law next;
  for (const auto& [start, p] : law)
    for (const auto& [end, q] : kernel.at(start)) next[end] += p * q;
  return next;
}

}  // namespace pgdlm::kit
