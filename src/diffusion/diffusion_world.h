// The World of one request: its tree, its backward process, its valuer. It walks particles through the steps of a
// stage, asks for a prediction only where a step changes something, and grows the tree. Used by one thread; the
// reductions of its jobs run beside the logits, while it is suspended.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "diffusion/compute.h"
#include "diffusion/tree.h"
#include "diffusion/valuer.h"
#include "pgdlm/request.h"
#include "smc/world.h"

namespace pgdlm {

class DiffusionWorld final : public World {
 public:
  // All references outlive the World. `frame` is make_frame(request.canvas, denoiser).
  DiffusionWorld(const Request& request, const Frame& frame, Compute& compute, Source& source, EventSink& events);

  Child root() const override { return {tree_.root(), 0.0}; }
  Task<std::vector<Child>> advance(std::vector<Seat> seats, Leg leg) override;
  Child along(NodeId leaf, Stage stage) const override;
  bool scores_transitions() const override { return process_.scores_transitions(); }
  Task<std::vector<double>> log_transition(std::vector<NodeId> from, NodeId leaf, Stage next) override;
  NodeId graft(NodeId ancestor, NodeId leaf, Stage next) override;
  void keep(std::span<const NodeId> live) override;
  bool cancelled() const override { return compute_.cancelled(); }
  bool interrupted() const override { return interrupted_; }
  Cost cost() const override { return compute_.cost(); }

  const Tree& tree() const { return tree_; }

 private:
  // One particle on its way through a stage.
  struct Walker {
    Seat seat;
    State state, before;  // before: the state the last step started from (FK's lag)
    int step = 0;         // the next one to take
    std::vector<std::pair<int, Move>> moves;
    Decision decision;
    Move move;
    bool valued = false;
    double value = 0;
  };
  using Address = std::tuple<int, int, int>;  // sweep, first step, slot

  Step step_at(int index) const;
  StateView view(const State& state, Step step) const { return {frame_, state.tokens, state.notes, step.t}; }
  Position horizon(StateView state, Step step) const;
  std::vector<Position> readable(StateView state, Step step) const;
  bool take(Walker& walker, const Leg& leg, Step step, PredictJob& job);
  void finish(Walker& walker, const Leg& leg, Step step);
  Task<bool> walk(std::vector<Walker>& walkers, const Leg& leg);
  Task<void> value(std::vector<Walker>& walkers, const Leg& leg);
  Child settle(Walker& walker, const Leg& leg);
  std::vector<Child> stopped(std::vector<Walker>& walkers);
  void replay(Walker& walker, const Leg& leg) const;
  const std::vector<NodeId>& path_to(NodeId leaf) const;
  std::size_t reached(const std::vector<NodeId>& path, int step) const;

  const Frame& frame_;
  const Backward& process_;
  std::vector<double> times_;
  bool lag_, redraw_, trace_, live_;
  bool completes_;  // predictions are also read to complete canvases, beyond the block at work
  Compute& compute_;
  Source& source_;
  EventSink& events_;
  Valuer valuer_;
  Tree tree_;
  std::map<Address, Edited> recorded_;
  std::pair<int, int> recorded_until_;  // sweep and step
  bool interrupted_ = false;

  mutable std::vector<NodeId> path_;  // of the leaf asked for last: a sweep asks for one leaf at every stage
};

}  // namespace pgdlm
