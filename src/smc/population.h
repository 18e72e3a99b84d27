// The k particles of a sweep between two stages: who sits in which slot, what each carries, which slot holds the
// reference. Owned by sweep().
#pragma once

#include <optional>
#include <vector>

#include "pgdlm/draws.h"
#include "pgdlm/plan.h"
#include "smc/schemes.h"
#include "smc/weights.h"
#include "smc/world.h"

namespace pgdlm {

struct Particle {
  NodeId node{};
  double value = 0;          // r̂ as estimated; after the last weighing r(x0)
  double carried = 0;        // ρ: what the potential compares the next value with
  double log_potential = 0;  // Σ log G along the lineage; ends as r(x0)/β in exact arithmetic
  double log_weight = 0;     // since the last resampling
};

// The end of a sweep. Nothing was resampled after the last weighing unless the plan asked for it.
struct Cloud {
  std::vector<Particle> particles;
  double log_z = 0;      // log evidence
  int reference = -1;    // its slot
  bool complete = true;  // false: cancelled on the way
};

class Population {
 public:
  // The first slot of a reference is random where the scheme looks at the order of the slots.
  Population(const Plan& plan, Child root, bool with_reference, Draws& draws);

  std::vector<Seat> free_seats() const;
  void settle(const std::vector<Child>& born, std::optional<Child> reference);
  void reweigh(bool last);
  bool wants_resampling() const;
  Offspring resample(int ancestor, Draws& draws);  // ancestor: the reference's parent slot, -1 without one
  void count_reward_twice();                       // Algorithm 1, line 15: once more exp(r/β)

  const std::vector<Particle>& particles() const { return particles_; }
  std::vector<NodeId> nodes() const;
  Weights weights() const;
  int reference() const { return reference_; }
  double log_z() const;
  Cloud cloud(bool complete) const { return {particles_, log_z(), reference_, complete}; }

 private:
  double carry(Particle& p) const;
  double log_increment(const Particle& p, double previous, std::optional<double> end) const;
  void reweigh_like_fk(bool last);

  const Plan& plan_;
  std::vector<Particle> particles_;
  int reference_ = -1;
  int events_ = 0;
  double log_z_ = 0;  // of the resamplings so far
};

}  // namespace pgdlm
