// Everything a sampler may ask of the outside. The sampling core sees nodes, values and weights; it cannot name a
// token. Arguments are values: coroutine frames outlive callers. One World per request, used by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/task.h"
#include "pgdlm/draws.h"
#include "pgdlm/events.h"
#include "pgdlm/plan.h"

namespace pgdlm {

enum class NodeId : std::uint32_t {};  // a state with its history: equal node, equal state, equal value

// A run of denoising steps [begin, end), then perhaps a weighing. The last stage always weighs.
struct Stage {
  int begin = 0, end = 0;
  bool weigh = true;
};
using Schedule = std::vector<Stage>;

struct Child {
  NodeId node{};
  double value = 0;  // r̂, fixed at birth (law 3); not weighed: the parent's
};

struct Seat {
  int slot = 0;
  NodeId node{};
};

// Where and how a stage is travelled. Draws of a slot are addressed by key.child(slot).
struct Leg {
  int sweep = 0;
  Stage stage;
  Proposal proposal = Proposal::sample;
  Key key;
};

class World {
 public:
  virtual ~World() = default;

  virtual Child root() const = 0;
  // One child per seat, in order. A child that did not change is its parent.
  virtual Task<std::vector<Child>> advance(std::vector<Seat> seats, Leg leg) = 0;

  // Where the path that ends in `leaf` stood at the end of the stage. Costs nothing: the path is in the tree.
  virtual Child along(NodeId leaf, Stage stage) const = 0;

  // For ancestor sampling. log K(x' | x) of the first step of `next`, where x' is what the path to `leaf` reached
  // by that step; and the path's tail from there on, regrown under another ancestor with the same states and values.
  virtual bool scores_transitions() const { return false; }
  virtual Task<std::vector<double>> log_transition(std::vector<NodeId> from, NodeId leaf, Stage next) = 0;
  virtual NodeId graft(NodeId ancestor, NodeId leaf, Stage next) = 0;

  virtual void keep(std::span<const NodeId> live) = 0;  // everything that is no ancestor of these may be forgotten
  virtual bool cancelled() const { return false; }
  virtual bool interrupted() const { return false; }  // it was cancelled in the middle of the last stage
  virtual Cost cost() const = 0;
};

// What every sampler needs to run.
struct Run {
  World& world;
  Source& source;
  EventSink& events;
  Key key;
  int sweep = 0;
  std::vector<NodeId> held;  // leaves kept alive besides those of the sweep at work
};

}  // namespace pgdlm
