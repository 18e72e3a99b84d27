#include "kit/table_world.h"

#include <algorithm>
#include <cmath>

namespace pgdlm::kit {

double TableWorld::guess(int state, Draws& draws) const {
  const auto& guesses = table_.guesses[state];
  return guesses[draws.categorical(std::vector<double>(guesses.size(), 1.0))];
}

NodeId TableWorld::grow(Node node) {
  nodes_.push_back(node);
  return newest();
}

Task<std::vector<Child>> TableWorld::advance(std::vector<Seat> seats, Leg leg) {
  std::vector<Child> children;
  for (const Seat& seat : seats) {
    Node child{seat.node, leg.stage.begin, at(seat.node).state, at(seat.node).value};
    const auto draws = source_.open(leg.key.child(static_cast<std::uint64_t>(seat.slot)));
    for (int step = leg.stage.begin; step < leg.stage.end; ++step) {
      const auto& row = table_.kernel[child.state];
      child.state = leg.proposal == Proposal::greedy
                        ? static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin())
                        : draws->categorical(row);
    }
    if (leg.stage.weigh) {
      const bool last = leg.stage.end == table_.steps;
      const double value = last ? table_.rewards[child.state] : guess(child.state, *draws);
      // Reported so that the increment is r̂(child) minus a new estimate of the parent, not the stored one.
      const bool wrong = habit == Habit::reestimates_parents && seat.node != NodeId{0};
      child.value = wrong ? child.value + value - guess(at(seat.node).state, *draws) : value;
    }
    const NodeId node = grow(child);
    children.push_back({node, child.value});
  }
  co_return children;
}

Child TableWorld::along(NodeId leaf, Stage stage) const {
  while (at(leaf).step >= stage.end) leaf = at(leaf).parent;
  return {leaf, at(leaf).value};
}

Task<std::vector<double>> TableWorld::log_transition(std::vector<NodeId> from, NodeId leaf, Stage next) {
  const int to = at(along(leaf, next).node).state;
  std::vector<double> log_probs;
  for (NodeId id : from) {
    log_probs.push_back(std::log(table_.kernel[at(id).state][to]));
    if (habit == Habit::forgets_potential) log_probs.back() += at(id).value;  // undoes "- log potential" at beta 1
  }
  co_return log_probs;
}

NodeId TableWorld::graft(NodeId ancestor, NodeId leaf, Stage next) {
  std::vector<Node> tail;
  for (; at(leaf).step >= next.begin; leaf = at(leaf).parent) tail.push_back(at(leaf));
  std::reverse(tail.begin(), tail.end());
  for (Node& node : tail) {
    node.parent = ancestor;
    ancestor = grow(node);
  }
  return ancestor;
}

Trail TableWorld::trail(NodeId leaf) const {
  Trail trail;
  for (; leaf != NodeId{0}; leaf = at(leaf).parent) {
    trail.states.push_back(at(leaf).state);
    trail.values.push_back(at(leaf).value);
  }
  return trail;
}

Schedule table_schedule(const Table& table) {
  Schedule schedule;
  for (int step = 0; step < table.steps; ++step) schedule.push_back({step, step + 1, true});
  return schedule;
}

}  // namespace pgdlm::kit
