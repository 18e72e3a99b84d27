// The ancestry of all states of a request, across sweeps. A node is a parent and a few edits; the canvases of the
// leaves at work are kept at hand, every other one is replayed. Memory grows with the number of edits, not with T x L.
// Owned by the World, used by its thread.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "pgdlm/plugin.h"
#include "smc/world.h"

namespace pgdlm {

struct State {
  std::vector<Token> tokens;
  std::vector<float> notes;
  void apply(std::span<const Edit> edits);
};

// What a node says of itself. `step` is the denoising step that made it, -1 for the root.
struct Node {
  NodeId parent{};
  int step = -1;
  std::vector<Edit> edits;
  double value = 0;     // r̂ if valued, else inherited from the parent
  bool valued = false;  // a value is born once (law 3)
};

class Tree {
 public:
  explicit Tree(State root);

  NodeId root() const { return NodeId{0}; }
  NodeId grow(NodeId parent, int step, std::vector<Edit> edits);
  void set_value(NodeId, double value);

  const Node& at(NodeId id) const { return cells_[index(id)].node; }
  State read(NodeId) const;
  std::vector<NodeId> path(NodeId leaf) const;  // from the root to the leaf

  // The canvases to have at hand from now on, instead of those before: a stage's children replace their parents.
  void have_at_hand(std::unordered_map<NodeId, State> canvases);

  // Forgets what is no ancestor of these; ids of forgotten nodes are used again.
  void keep(std::span<const NodeId> live);

  std::size_t size() const { return cells_.size() - free_.size(); }
  std::size_t bytes() const;

 private:
  struct Cell {
    Node node;
    int children = 0;
    bool used = true;
  };
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

  std::vector<Cell> cells_;
  std::vector<NodeId> free_;
  State root_canvas_;
  std::unordered_map<NodeId, State> canvases_;  // at hand
};

}  // namespace pgdlm
