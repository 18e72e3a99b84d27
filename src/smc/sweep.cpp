#include "smc/sweep.h"

#include "base/check.h"

namespace pgdlm {
namespace {

// What the draws of a sweep are for.
enum Purpose : std::uint64_t { kFirstSlot = 1, kStage, kPropose, kAncestor, kResample };

Weighed weighed(const Population& pop, const Run& run, Stage stage) {
  Weighed event{.sweep = run.sweep, .step = stage.end, .reference = pop.reference()};
  for (const Particle& p : pop.particles()) {
    event.values.push_back(p.value);
    event.log_weights.push_back(p.log_weight);
  }
  event.ess = pop.weights().ess();
  event.log_z = pop.log_z();
  return event;
}

std::vector<NodeId> live(const Population& pop, const Run& run, std::optional<NodeId> reference) {
  std::vector<NodeId> nodes = pop.nodes();
  nodes.insert(nodes.end(), run.held.begin(), run.held.end());
  if (reference) nodes.push_back(*reference);
  return nodes;
}

// Which particle becomes the reference's ancestor: W_i · γ(x^i, x')/γ(x^i) with γ the target up to each time. The
// future's potentials telescope to exp(r(x'_0)/β - what i has collected), so with K the first step's transition
// log weight = log w_i - log potential of i + log K(x' | x^i), up to a constant.
Task<int> draw_ancestor(Run& run, const Population& pop, NodeId reference, Stage next, Key key) {
  std::vector<double> log_w = co_await run.world.log_transition(pop.nodes(), reference, next);
  for (std::size_t i = 0; i < log_w.size(); ++i)
    log_w[i] += pop.particles()[i].log_weight - pop.particles()[i].log_potential;
  const Weights w(log_w);
  if (w.degenerate()) co_return pop.reference();  // a start the process could not have drawn: only time mends it
  co_return run.source.open(key)->categorical(w.probs());
}

}  // namespace

Task<Cloud> sweep(Run run, Plan plan, Schedule schedule, std::optional<NodeId> reference) {
  PGDLM_CHECK(plan.scheme && (!reference || plan.scheme->draw_given) && schedule.back().weigh);
  const bool to_the_end = plan.resample_last || plan.selection == Selection::paper;
  Population pop(plan, run.world.root(), reference.has_value(), *run.source.open(run.key.child(kFirstSlot)));
  run.world.keep(live(pop, run, reference));  // of the sweep before, only what is still held

  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (run.world.cancelled()) co_return pop.cloud(false);
    const Stage stage = schedule[i];
    const bool last = i + 1 == schedule.size();
    const Key here = run.key.child(kStage).child(static_cast<std::uint64_t>(stage.begin));

    Leg leg{run.sweep, stage, plan.proposal, here.child(kPropose)};
    const std::vector<Child> born = co_await run.world.advance(pop.free_seats(), leg);
    std::optional<Child> kept;  // the reference steps along its stored path
    if (reference) kept = run.world.along(*reference, stage);
    pop.settle(born, kept);
    if (run.world.interrupted()) co_return pop.cloud(false);
    if (!stage.weigh) continue;

    pop.reweigh(last);
    run.events.emit(weighed(pop, run, stage));
    if (pop.weights().degenerate()) continue;                    // nothing to draw from
    if (last ? !to_the_end : !pop.wants_resampling()) continue;  // skipped resampling keeps its weights

    int ancestor = pop.reference();
    if (reference && plan.ancestor_sampling && !last) {
      ancestor = co_await draw_ancestor(run, pop, *reference, schedule[i + 1], here.child(kAncestor));
      if (ancestor != pop.reference())
        reference = run.world.graft(pop.nodes()[static_cast<std::size_t>(ancestor)], *reference, schedule[i + 1]);
    }
    const Offspring offspring = pop.resample(ancestor, *run.source.open(here.child(kResample)));
    run.events.emit(Resampled{run.sweep, stage.end, offspring.parents, pop.reference()});

    run.world.keep(live(pop, run, reference));
  }
  if (plan.selection == Selection::paper && !pop.weights().degenerate()) pop.count_reward_twice();
  co_return pop.cloud(true);
}

}  // namespace pgdlm
