#include "diffusion/diffusion_world.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/check.h"

namespace pgdlm {
namespace {

// What the draws of a slot are for, besides its steps 0, 1, 2, ...
enum Purpose : std::uint64_t { kCoins = 1, kTokens, kStep, kValue };

Key step_key(const Leg& leg, int slot, int step) {
  return leg.key.child(static_cast<std::uint64_t>(slot)).child(kStep).child(static_cast<std::uint64_t>(step));
}

State initial_state(const Canvas& canvas) { return {canvas.tokens, std::vector<float>(canvas.tokens.size(), 0.0F)}; }

Move difference(const State& from, const State& to) {
  Move move;
  for (std::size_t l = 0; l < from.tokens.size(); ++l)
    if (from.tokens[l] != to.tokens[l] || from.notes[l] != to.notes[l])
      move.push_back({static_cast<Position>(l), to.tokens[l], to.notes[l]});
  return move;
}

// Greedy and best-of-n look at weights once, when nothing is left to complete.
bool completes_canvases(const Settings& settings) {
  const Method method = settings.plan.method;
  return settings.valuing.estimator != Estimator::prefix && method != Method::greedy && method != Method::best_of_n;
}

}  // namespace

// Ancestor sampling compares a state's value across lineages, so there the value must be a draw given the state alone,
// never one kept because this lineage happened not to change.
DiffusionWorld::DiffusionWorld(const Request& request, const Frame& frame, Compute& compute, Source& source,
                               EventSink& events)
    : frame_(frame),
      process_(*request.process),
      times_(process_.times(request.steps)),
      lag_(request.settings.valuing.lag),
      redraw_(request.settings.valuing.redraw_unchanged || request.settings.plan.ancestor_sampling),
      trace_(request.trace),
      live_(request.live),
      completes_(completes_canvases(request.settings)),
      compute_(compute),
      source_(source),
      events_(events),
      valuer_(frame, request.settings, compute, source),
      tree_(initial_state(request.canvas)),
      recorded_until_(request.recorded.sweep, request.recorded.step) {
  for (const Edited& e : request.recorded.edits) recorded_.emplace(Address{e.sweep, e.step, e.slot}, e);
}

Step DiffusionWorld::step_at(int index) const {
  const int count = static_cast<int>(times_.size()) - 1;
  return {index, count, times_[index], times_[index + 1]};
}

// Of the state, not of this step alone: a state has one prediction in a request, whoever asks for it first.
Position DiffusionWorld::horizon(StateView state, Step step) const {
  return completes_ ? std::numeric_limits<Position>::max() : process_.horizon(state, step);
}

// What a step may read that chooses its positions by their logits.
std::vector<Position> DiffusionWorld::readable(StateView state, Step step) const {
  std::vector<Position> rows;
  const Position end = std::min(frame_.length(), process_.horizon(state, step));
  for (Position l = 0; l < end; ++l)
    if (state.masked(l)) rows.push_back(l);
  return rows;
}

// Takes one step, or says what prediction it needs first. Quiet steps cost nothing.
bool DiffusionWorld::take(Walker& walker, const Leg& leg, Step step, PredictJob& job) {
  const StateView now = view(walker.state, step);
  const bool greedy = leg.proposal == Proposal::greedy;
  if (greedy) {
    if (process_.greedy_quota(now, step) == 0) return true;
  } else {
    const Key key = step_key(leg, walker.seat.slot, step.index);
    walker.decision = process_.decide(now, step, *source_.open(key.child(kCoins)));
    if (!walker.decision.needs_prediction()) {
      walker.move = walker.decision.ready;
      return true;
    }
  }
  job = {walker.state.tokens,
         walker.state.notes,
         step.t,
         [this, &walker, step, greedy, key = step_key(leg, walker.seat.slot, step.index)](
             StateView state, const Prediction& prediction) {
           walker.move =
               greedy ? process_.greedy(state, prediction, step)
                      : process_.fill(state, walker.decision, prediction, step, *source_.open(key.child(kTokens)));
         },
         greedy || walker.decision.choose ? readable(now, step) : walker.decision.reveal,
         horizon(now, step)};
  return false;
}

void DiffusionWorld::finish(Walker& walker, const Leg& leg, Step step) {
  if (lag_ && step.index + 1 == leg.stage.end) walker.before = walker.state;
  if (!walker.move.empty()) {
    walker.state.apply(walker.move);
    if (live_) events_.emit(Drafted{leg.sweep, step.index + 1, walker.seat.slot, walker.state.tokens});
    walker.moves.emplace_back(step.index, std::exchange(walker.move, {}));
  }
  ++walker.step;
}

// Every particle runs ahead to the next step that needs a prediction; those predictions make one batch. False if the
// request was cancelled before all had arrived.
Task<bool> DiffusionWorld::walk(std::vector<Walker>& walkers, const Leg& leg) {
  for (;;) {
    std::vector<PredictJob> jobs;
    std::vector<Walker*> waiting;
    for (Walker& walker : walkers) {
      while (walker.step < leg.stage.end) {
        const Step step = step_at(walker.step);
        PredictJob job;
        if (!take(walker, leg, step, job)) {
          jobs.push_back(std::move(job));
          waiting.push_back(&walker);
          break;
        }
        finish(walker, leg, step);
      }
    }
    if (jobs.empty()) co_return true;
    if (compute_.cancelled()) co_return false;
    co_await compute_.predict(std::move(jobs));
    for (Walker* walker : waiting) finish(*walker, leg, step_at(walker->step));
  }
}

// Values what has none yet. Particles that still sit on the same unvalued node (only the root can be that) share its
// value: it is one draw that stays with the node, like every other.
Task<void> DiffusionWorld::value(std::vector<Walker>& walkers, const Leg& leg) {
  const bool last = leg.stage.end == static_cast<int>(times_.size()) - 1;
  std::vector<Valuand> valuands;
  std::vector<std::vector<Walker*>> owners;
  std::unordered_map<NodeId, std::size_t> shared;
  for (Walker& walker : walkers) {
    const Node& parent = tree_.at(walker.seat.node);
    const bool unchanged = walker.moves.empty() && !redraw_;
    if (unchanged && parent.valued && !last) continue;  // at the end it is r(x0) that counts, whatever the guess was
    if (unchanged && !parent.valued) {
      const auto [first, alone] = shared.emplace(walker.seat.node, owners.size());
      if (!alone) {
        owners[first->second].push_back(&walker);
        continue;
      }
    }
    const Key key = leg.key.child(static_cast<std::uint64_t>(walker.seat.slot)).child(kValue);
    const bool lagging = lag_ && !last;
    valuands.push_back(
        {lagging ? walker.before : walker.state, times_[lagging ? leg.stage.end - 1 : leg.stage.end], last, key});
    owners.push_back({&walker});
  }
  if (valuands.empty()) co_return;
  const std::vector<double> values = co_await valuer_.values(std::move(valuands));
  for (std::size_t i = 0; i < owners.size(); ++i)
    for (Walker* walker : owners[i]) {
      walker->valued = true;
      walker->value = values[i];
    }
}

Child DiffusionWorld::settle(Walker& walker, const Leg& leg) {
  if (trace_ && (walker.valued || !walker.moves.empty())) {
    Edited event{leg.sweep, leg.stage.begin, walker.seat.slot, {}, walker.valued, walker.value};
    for (const auto& [step, move] : walker.moves)
      for (const Edit& edit : move) event.edits.push_back({step, edit});
    events_.emit(event);
  }
  NodeId node = walker.seat.node;
  for (auto& [step, move] : walker.moves) node = tree_.grow(node, step, std::move(move));
  if (walker.valued && !(tree_.at(node).valued && tree_.at(node).value == walker.value && !redraw_)) {
    if (tree_.at(node).valued) node = tree_.grow(node, leg.stage.end - 1, {});  // a fresh value of an old state
    tree_.set_value(node, walker.value);
  }
  return {node, tree_.at(node).value};
}

// What there is of a stage that was not finished. It has no values, and no trace shall hold it: a resumed run takes the
// stage from its beginning.
std::vector<Child> DiffusionWorld::stopped(std::vector<Walker>& walkers) {
  interrupted_ = true;
  std::vector<Child> children;
  for (Walker& walker : walkers) {
    NodeId node = walker.seat.node;
    for (auto& [step, move] : walker.moves) node = tree_.grow(node, step, std::move(move));
    children.push_back({node, tree_.at(node).value});
  }
  return children;
}

// A stage that a trace already holds: its edits and its value; nothing is drawn or computed.
void DiffusionWorld::replay(Walker& walker, const Leg& leg) const {
  const auto found = recorded_.find({leg.sweep, leg.stage.begin, walker.seat.slot});
  if (found == recorded_.end()) return;
  const Edited& recorded = found->second;
  for (const TimedEdit& timed : recorded.edits) {
    if (walker.moves.empty() || walker.moves.back().first != timed.step) walker.moves.emplace_back(timed.step, Move{});
    walker.moves.back().second.push_back(timed.edit);
  }
  for (const auto& [step, move] : walker.moves) walker.state.apply(move);
  walker.valued = recorded.fresh;
  walker.value = recorded.value;
}

Task<std::vector<Child>> DiffusionWorld::advance(std::vector<Seat> seats, Leg leg) {
  std::vector<Walker> walkers(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i)
    walkers[i] = Walker{.seat = seats[i], .state = tree_.read(seats[i].node), .step = leg.stage.begin};

  if (std::pair{leg.sweep, leg.stage.begin} < recorded_until_) {
    for (Walker& walker : walkers) replay(walker, leg);
  } else if (!co_await walk(walkers, leg)) {
    co_return stopped(walkers);
  } else if (leg.stage.weigh) {
    co_await value(walkers, leg);
  }
  std::vector<Child> children;
  std::unordered_map<NodeId, State> canvases;
  for (Walker& walker : walkers) {
    const bool finished =
        leg.stage.end < static_cast<int>(times_.size()) - 1 ||
        std::find(walker.state.tokens.begin(), walker.state.tokens.end(), frame_.mask) == walker.state.tokens.end();
    if (!finished) throw Error(ErrorCode::bad_model, "the backward process left a mask after its last step");
    children.push_back(settle(walker, leg));
    canvases.emplace(children.back().node, std::move(walker.state));
  }
  tree_.have_at_hand(std::move(canvases));
  co_return children;
}

const std::vector<NodeId>& DiffusionWorld::path_to(NodeId leaf) const {
  if (path_.empty() || path_.back() != leaf) path_ = tree_.path(leaf);
  return path_;
}

// Index of the last node of a path made by steps before `step`.
std::size_t DiffusionWorld::reached(const std::vector<NodeId>& path, int step) const {
  const auto after =
      std::partition_point(path.begin(), path.end(), [&](NodeId id) { return tree_.at(id).step < step; });
  return static_cast<std::size_t>(after - path.begin()) - 1;
}

Child DiffusionWorld::along(NodeId leaf, Stage stage) const {
  const auto& path = path_to(leaf);
  const NodeId node = path[reached(path, stage.end)];
  return {node, tree_.at(node).value};
}

Task<std::vector<double>> DiffusionWorld::log_transition(std::vector<NodeId> from, NodeId leaf, Stage next) {
  const Step step = step_at(next.begin);
  const auto& path = path_to(leaf);
  const State to = tree_.read(path[reached(path, next.begin + 1)]);

  std::vector<double> log_probs(from.size(), -std::numeric_limits<double>::infinity());
  std::vector<PredictJob> jobs;
  for (std::size_t i = 0; i < from.size(); ++i) {
    State state = tree_.read(from[i]);
    const StateView here = view(state, step);
    PredictJob job{.time = step.t,
                   .reduce =
                       [this, &to, &log_probs, i, step](StateView origin, const Prediction& prediction) {
                         log_probs[i] = *process_.log_prob(origin, view(to, step), prediction, step);
                       },
                   .rows = readable(here, step),
                   .horizon = horizon(here, step)};
    job.tokens = std::move(state.tokens);
    job.notes = std::move(state.notes);
    jobs.push_back(std::move(job));
  }
  co_await compute_.predict(std::move(jobs));
  co_return log_probs;
}

NodeId DiffusionWorld::graft(NodeId ancestor, NodeId leaf, Stage next) {
  const std::vector<NodeId> path = path_to(leaf);
  std::size_t i = reached(path, next.begin);  // where the old lineage stood before the stage
  const std::size_t first = reached(path, next.begin + 1);
  const State target = tree_.read(path[first]);

  NodeId node = ancestor;
  Move step = difference(tree_.read(ancestor), target);
  if (!step.empty() || first != i) {
    node = tree_.grow(node, next.begin, std::move(step));
    if (first != i && tree_.at(path[first]).valued) tree_.set_value(node, tree_.at(path[first]).value);
  }
  for (i = first + 1; i < path.size(); ++i) {
    const Node old = tree_.at(path[i]);
    node = tree_.grow(node, old.step, old.edits);
    if (old.valued) tree_.set_value(node, old.value);
  }
  return node;
}

void DiffusionWorld::keep(std::span<const NodeId> live) {
  tree_.keep(live);
  path_.clear();
}

}  // namespace pgdlm
