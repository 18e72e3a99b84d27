#include "smc/population.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pgdlm {
namespace {

// A hopeless reference has a weight too small for its cell to be found among doubles; it keeps one wide enough.
constexpr double kSmallestCell = 1e-13;

std::vector<double> with_room_for(int reference, std::span<const double> probs) {
  std::vector<double> wide(probs.begin(), probs.end());
  if (wide[reference] >= kSmallestCell) return wide;
  for (double& p : wide) p *= 1 - kSmallestCell;
  wide[reference] = kSmallestCell;
  return wide;
}

}  // namespace

Population::Population(const Plan& plan, Child root, bool with_reference, Draws& draws)
    : plan_(plan),
      particles_(static_cast<std::size_t>(plan.particles), Particle{.node = root.node, .carried = root.value}) {
  if (!with_reference) return;
  reference_ = plan.particles - 1;  // the paper's slot k
  if (plan.scheme->ordered)
    reference_ = draws.categorical(std::vector<double>(static_cast<std::size_t>(plan.particles), 1.0));
}

std::vector<Seat> Population::free_seats() const {
  std::vector<Seat> seats;
  for (int slot = 0; slot < plan_.particles; ++slot)
    if (slot != reference_) seats.push_back({slot, particles_[static_cast<std::size_t>(slot)].node});
  return seats;
}

void Population::settle(const std::vector<Child>& born, std::optional<Child> reference) {
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < particles_.size(); ++slot) {
    const Child child = static_cast<int>(slot) == reference_ ? *reference : born[next++];
    particles_[slot].node = child.node;
    particles_[slot].value = child.value;
  }
}

// What a lineage carries from here on (FK-Steering's ρ). Returns what it carried before.
double Population::carry(Particle& p) const {
  const double previous = p.carried;
  switch (plan_.potential) {
    case Potential::diff:
    case Potential::rt: p.carried = p.value; break;
    case Potential::max: p.carried = std::max(p.value, previous); break;
    case Potential::add: p.carried = p.value + previous; break;
  }
  return previous;
}

// log G of one particle (Algorithm 1, line 10 for diff). Whatever the potential was on the way, the last one makes the
// product along the lineage exp(end/β): with end = r(x0) that is all exactness needs.
double Population::log_increment(const Particle& p, double previous, std::optional<double> end) const {
  if (end) return *end / plan_.beta - p.log_potential;
  if (plan_.potential == Potential::diff) return (p.carried - previous) / plan_.beta;
  return p.carried / plan_.beta;
}

void Population::reweigh(bool last) {
  if (plan_.arithmetic == Arithmetic::fk) return reweigh_like_fk(last);
  for (Particle& p : particles_) {
    const double previous = carry(p);
    const double log_g = log_increment(p, previous, last ? std::optional(p.value) : std::nullopt);
    p.log_potential += log_g;
    p.log_weight += log_g;
  }
}

// FK-Steering's own arithmetic: float32 weights in [0, 1e10], NaN counts as 0, if all are 0 then all are 1; and at the
// end max and add use the carried reward, not r(x0). Kept to reproduce published numbers; it breaks telescoping.
void Population::reweigh_like_fk(bool last) {
  const bool divides = last && plan_.potential != Potential::diff;
  for (Particle& p : particles_) {
    const double previous = carry(p);
    const double log_g = log_increment(p, previous, divides ? std::optional(p.carried) : std::nullopt);
    const float raw = std::exp(static_cast<float>(log_g));
    const float w = std::isnan(raw) ? 0.0F : std::clamp(raw, 0.0F, 1e10F);
    p.log_potential += std::log(static_cast<double>(w));
    p.log_weight += std::log(static_cast<double>(w));
  }
  if (!weights().degenerate()) return;
  for (Particle& p : particles_) p.log_weight = 0;
}

// A rule that looks at the weights as a set: valid with a reference too, if skipped weights are kept.
bool Population::wants_resampling() const {
  if (events_ >= (plan_.max_events < 0 ? plan_.particles : plan_.max_events)) return false;
  return !plan_.ess_floor || weights().ess() < *plan_.ess_floor * plan_.particles;
}

Offspring Population::resample(int ancestor, Draws& draws) {
  const Weights w = weights();
  const Scheme& scheme = *plan_.scheme;
  Offspring born = ancestor < 0 ? scheme.draw(w.probs(), draws)
                                : scheme.draw_given(with_room_for(ancestor, w.probs()), ancestor, draws);
  PGDLM_CHECK(born.parents.size() == particles_.size());

  log_z_ += w.log_mean();
  ++events_;
  std::vector<Particle> next;
  for (int parent : born.parents) {
    next.push_back(particles_[static_cast<std::size_t>(parent)]);
    next.back().log_weight = 0;
  }
  particles_ = std::move(next);
  reference_ = born.kept;
  return born;
}

void Population::count_reward_twice() {
  for (Particle& p : particles_) p.log_weight += p.value / plan_.beta;
}

std::vector<NodeId> Population::nodes() const {
  std::vector<NodeId> nodes;
  for (const Particle& p : particles_) nodes.push_back(p.node);
  return nodes;
}

Weights Population::weights() const {
  std::vector<double> log_weights;
  for (const Particle& p : particles_) log_weights.push_back(p.log_weight);
  return Weights(log_weights);
}

double Population::log_z() const { return log_z_ + weights().log_mean(); }

}  // namespace pgdlm
