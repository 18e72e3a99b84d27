// An abstract World: a Markov chain over a few states with a table of transition probabilities, values and rewards.
// No tokens, no denoiser: what the samplers do with it is what they do with everything. Asymmetric on purpose.
#pragma once

#include <vector>

#include "smc/world.h"

namespace pgdlm::kit {

// A path with its values: what a law is about.
struct Trail {
  std::vector<int> states;
  std::vector<double> values;
  friend auto operator<=>(const Trail&, const Trail&) = default;
};

struct Table {
  int steps = 2;
  std::vector<std::vector<double>> kernel = {{0.7, 0.3}, {0.25, 0.75}};  // [from][to], the same at every step
  std::vector<std::vector<double>> guesses = {{0.35}, {-0.6, 0.8}};      // equally likely estimates r̂ of each state
  std::vector<double> rewards = {0.1, 0.9};                              // r of the last state
};

class TableWorld final : public World {
 public:
  TableWorld(const Table& table, Source& source) : table_(table), source_(source) { nodes_.push_back({}); }

  Child root() const override { return {NodeId{0}, 0.0}; }
  Task<std::vector<Child>> advance(std::vector<Seat> seats, Leg leg) override;
  Child along(NodeId leaf, Stage stage) const override;
  bool scores_transitions() const override { return true; }
  Task<std::vector<double>> log_transition(std::vector<NodeId> from, NodeId leaf, Stage next) override;
  NodeId graft(NodeId ancestor, NodeId leaf, Stage next) override;
  void keep(std::span<const NodeId>) override {}
  Cost cost() const override { return {}; }

  Trail trail(NodeId leaf) const;
  NodeId newest() const { return NodeId{static_cast<std::uint32_t>(nodes_.size() - 1)}; }

  // Broken habits, to show that the laws have teeth.
  enum class Habit { none, reestimates_parents, forgets_potential };
  Habit habit = Habit::none;

 private:
  struct Node {
    NodeId parent{};
    int step = -1, state = 0;
    double value = 0;
  };
  double guess(int state, Draws& draws) const;
  const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  NodeId grow(Node node);

  const Table& table_;
  Source& source_;
  std::vector<Node> nodes_;
};

Schedule table_schedule(const Table& table);  // one stage a step

}  // namespace pgdlm::kit
