#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "base/philox.h"
#include "diffusion/conformance/findings.h"
#include "diffusion/conformance/frequencies.h"
#include "diffusion/schedule.h"
#include "diffusion/tree.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

// Draws that watch what they are asked for.
class WatchedDraws final : public Draws {
 public:
  WatchedDraws(std::unique_ptr<Draws> draws, Findings& findings) : draws_(std::move(draws)), findings_(findings) {}

  int categorical(std::span<const double> weights) override {
    const bool fit = std::ranges::all_of(weights, [](double w) { return w >= 0 && std::isfinite(w); });
    const bool possible = std::ranges::any_of(weights, [](double w) { return w > 0; });
    if (fit && possible) return draws_->categorical(weights);
    findings_.add(
        "draws must be asked for finite weights >= 0, one of them positive",
        fit ? "none of " + std::to_string(weights.size()) + " is positive" : "one is negative, infinite or NaN");
    return 0;
  }

 private:
  std::unique_ptr<Draws> draws_;
  Findings& findings_;
};

struct Drawn {
  Decision decision;
  Move move;
};

// A state that was met, and the step that begins there.
struct Scene {
  State state;
  Step step;

  std::string name() const { return "step " + std::to_string(step.index) + " of " + std::to_string(step.count); }
};

std::string describe(const Edit& edit) {
  return "position " + std::to_string(edit.position) + ", token " + std::to_string(edit.token);
}

class BackwardCheck {
 public:
  BackwardCheck(const Backward& process, Denoiser& denoiser, const Canvas& canvas, const ConformanceOptions& options)
      : process_(process), denoiser_(denoiser), frame_(make_frame(canvas, denoiser)), options_(options) {
    start_ = {canvas.tokens, std::vector<float>(canvas.tokens.size(), 0.0F)};
  }

  std::vector<std::string> run(int steps) {
    findings_.guard("validate()", [&] { process_.validate(frame_, steps); });
    findings_.guard("times()", [&] { check_times(steps); });
    if (findings_.size() > 0) return findings_.take();
    findings_.guard("block_ends()", [&] { check_blocks(process_.block_ends(frame_, steps)); });
    findings_.guard("decide() and fill()", [&] { check_paths(); });
    findings_.guard("greedy()", [&] { check_greedy(); });
    findings_.guard("log_prob()", [&] { check_scores(); });
    return findings_.take();
  }

 private:
  void check_times(int steps) {
    times_ = process_.times(steps);
    if (times_.size() < 2)
      return findings_.add("times() must have at least two entries", std::to_string(times_.size()));
    findings_.require(times_.front() == 1 && times_.back() == 0, "times() must run from 1 to 0",
                      std::to_string(times_.front()) + " to " + std::to_string(times_.back()));
    for (std::size_t i = 1; i < times_.size(); ++i)
      findings_.require(times_[i] < times_[i - 1], "times() must decrease strictly",
                        std::to_string(times_[i]) + " follows " + std::to_string(times_[i - 1]));
  }

  void check_blocks(const std::vector<int>& ends) {
    int last = 0;
    for (int end : ends) {
      findings_.require(end > last, "block_ends() must increase, from 1 or more",
                        std::to_string(end) + " follows " + std::to_string(last));
      last = end;
    }
    findings_.require(last == updates(), "block_ends() must end with the last step",
                      std::to_string(last) + " of " + std::to_string(updates()));
  }

  // Whole trajectories; the scenes they pass are kept.
  void check_paths() {
    std::vector<Move> first_path;
    for (int path = 0; path < options_.paths; ++path) {
      State state = start_;
      for (int i = 0; i < updates(); ++i) {
        scenes_.push_back({state, step_at(i)});
        const Drawn drawn = draw(scenes_.back(), path_key(path, i));
        check_move(scenes_.back(), drawn);
        check_same(drawn.move, draw(scenes_.back(), path_key(path, i)).move);
        if (!legal(drawn.move)) return;
        if (path == 0) first_path.push_back(drawn.move);
        state.apply(drawn.move);
      }
      check_finished(state, "after the last step");
    }
    for (int i = 0; i < updates() && options_.paths > 0; ++i)  // once more, after everything else
      check_same(first_path[static_cast<std::size_t>(i)],
                 draw(scenes_[static_cast<std::size_t>(i)], path_key(0, i)).move);
  }

  void check_move(const Scene& scene, const Drawn& drawn) {
    const auto& [decision, move] = drawn;
    const std::string where = " (" + scene.name() + ")";
    for (const Edit& edit : decision.ready)
      findings_.require(std::ranges::find(move, edit) != move.end(), "fill() must return what decide() had ready, too",
                        describe(edit) + " is missing" + where);
    for (const Edit& edit : move) {
      const bool known = decision.choose ||
                         std::ranges::find(decision.reveal, edit.position) != decision.reveal.end() ||
                         std::ranges::find(decision.ready, edit) != decision.ready.end();
      findings_.require(known, "fill() must edit only what decide() named", describe(edit) + where);
    }
    check_edits(move, where);
  }

  void check_edits(const Move& move, const std::string& where) {
    std::set<Position> touched;
    for (const Edit& edit : move) {
      if (edit.position < 0 || edit.position >= frame_.length()) {
        findings_.add("edits must lie on the canvas", describe(edit) + where);
        continue;
      }
      findings_.require(!frame_.pinned[edit.position], "edits must leave pinned positions alone",
                        describe(edit) + where);
      findings_.require(touched.insert(edit.position).second, "a position must be edited at most once per step",
                        describe(edit) + where);
      findings_.require(edit.token == frame_.mask || (edit.token >= 0 && edit.token < frame_.vocab),
                        "edits must write tokens of the vocabulary or the mask", describe(edit) + where);
      findings_.require(!std::isnan(edit.note) && (edit.note == 0 || process_.remembers()),
                        "notes must be 0 unless remembers() says so, and never NaN",
                        describe(edit) + ", note " + std::to_string(edit.note) + where);
    }
  }

  // May the move be applied at all?
  bool legal(const Move& move) const {
    return std::ranges::all_of(move, [&](const Edit& e) { return e.position >= 0 && e.position < frame_.length(); });
  }

  void check_same(const Move& one, const Move& other) {
    findings_.require(one == other, "a move must be a function of state and draws",
                      "the same state and stream gave two different moves");
  }

  void check_finished(const State& state, const std::string& when) {
    const auto left = std::ranges::count(state.tokens, frame_.mask);
    findings_.require(left == 0, "no mask may be left at the end", std::to_string(left) + " are, " + when);
  }

  void check_greedy() {
    State state = start_;
    for (int i = 0; i < updates(); ++i) {
      const Move move = greedy_move({state, step_at(i)});
      if (!legal(move)) return;
      state.apply(move);
    }
    check_finished(state, "after the last step of the greedy path");
    for (const Scene& scene : some_scenes()) greedy_move(scene);
  }

  Move greedy_move(const Scene& scene) {
    const StateView x = view(scene.state, scene.step.t);
    const std::string where = " (greedy, " + scene.name() + ")";
    const int quota = process_.greedy_quota(x, scene.step);
    findings_.require(quota >= 0, "greedy_quota() must not be negative", std::to_string(quota) + where);
    Move move;
    if (quota > 0) {
      const PredictionPtr prediction = predict(scene);
      move = process_.greedy(x, *prediction, scene.step);
      check_same(move, process_.greedy(x, *prediction, scene.step));
      findings_.require(static_cast<int>(move.size()) <= quota, "greedy() must not edit more than greedy_quota() says",
                        std::to_string(move.size()) + " instead of " + std::to_string(quota) + where);
      check_edits(move, where);
    }
    if (process_.scores_transitions() && legal(move)) {
      State to = scene.state;
      to.apply(move);
      findings_.require(log_prob(scene, to) > -kInfinity, "the greedy move must be possible",
                        "log_prob() is -inf for it" + where);
    }
    return move;
  }

  void check_scores() {
    if (process_.scores_transitions()) {
      for (const Scene& scene : some_scenes()) check_frequencies(scene);
      return;
    }
    for (const Scene& scene : some_scenes()) {
      const auto answer = process_.log_prob(view(scene.state, scene.step.t), view(scene.state, scene.step.s),
                                            *predict(scene), scene.step);
      findings_.require(!answer.has_value(), "log_prob() must be announced by scores_transitions()", "it answers");
    }
  }

  void check_frequencies(const Scene& scene) {
    std::map<std::pair<std::vector<Token>, std::vector<float>>, std::int64_t> counts;
    for (int n = 0; n < options_.draws; ++n) {
      State to = scene.state;
      const Move move = draw(scene, Key{options_.seed}.child(kFrequencies).child(static_cast<std::uint64_t>(n))).move;
      if (!legal(move)) return;
      to.apply(move);
      ++counts[{to.tokens, to.notes}];
    }
    Frequencies frequencies(options_.draws);
    for (const auto& [to, count] : counts) {
      const double log_p = log_prob(scene, {to.first, to.second});
      findings_.require(log_p > -kInfinity, "log_prob() must be finite for a move that was drawn",
                        "it is " + std::to_string(log_p) + " at " + scene.name());
      frequencies.add(count, std::exp(log_p));
    }
    findings_.require(frequencies.mass() <= 1 + 1e-9, "probabilities of different moves must not add up to more than 1",
                      std::to_string(frequencies.mass()) + " at " + scene.name());
    findings_.require(frequencies.plausible(), "log_prob() must agree with draws",
                      frequencies.worst() + " at " + scene.name());
    check_pinned(scene);
  }

  void check_pinned(const Scene& scene) {
    for (Position l = 0; l < frame_.length(); ++l) {
      if (!frame_.pinned[l]) continue;
      State to = scene.state;
      for (Token v = 0; v < frame_.vocab && to.tokens[l] == scene.state.tokens[l]; ++v)
        if (v != frame_.mask) to.tokens[l] = v;
      if (to.tokens[l] == scene.state.tokens[l]) return;  // there is no other token
      findings_.require(log_prob(scene, to) == -kInfinity, "log_prob() must be -inf where a pinned token changes",
                        "position " + std::to_string(l) + " at " + scene.name());
    }
  }

  double log_prob(const Scene& scene, const State& to) {
    const auto answer =
        process_.log_prob(view(scene.state, scene.step.t), view(to, scene.step.s), *predict(scene), scene.step);
    findings_.require(answer.has_value(), "log_prob() must answer where scores_transitions() says so", "it does not");
    const double log_p = answer.value_or(0);
    findings_.require(log_p <= 1e-9, "log_prob() must be the logarithm of a probability", std::to_string(log_p));
    return log_p;
  }

  // Evenly spread over all that were met, the first and the last step included.
  std::vector<Scene> some_scenes() const {
    std::vector<Scene> some;
    const auto wanted =
        std::min<std::size_t>(scenes_.size(), static_cast<std::size_t>(std::max(options_.scored_states, 0)));
    for (std::size_t i = 0; i < wanted; ++i)
      some.push_back(scenes_[wanted == 1 ? 0 : i * (scenes_.size() - 1) / (wanted - 1)]);
    return some;
  }

  Drawn draw(const Scene& scene, Key key) {
    const StateView x = view(scene.state, scene.step.t);
    Drawn drawn{process_.decide(x, scene.step, *open(key.child(kCoins))), {}};
    drawn.move = drawn.decision.ready;
    if (drawn.decision.needs_prediction())
      drawn.move = process_.fill(x, drawn.decision, *predict(scene), scene.step, *open(key.child(kTokens)));
    return drawn;
  }

  // The prediction of the state asked for last is kept: draws and scores ask for one state again and again.
  PredictionPtr predict(const Scene& scene) {
    if (!prediction_ || predicted_ != scene.state.tokens || predicted_time_ != scene.step.t) {
      const StateView x = view(scene.state, scene.step.t);
      prediction_ = denoiser_.predict(std::span(&x, 1)).at(0);
      predicted_ = scene.state.tokens;
      predicted_time_ = scene.step.t;
    }
    return prediction_;
  }

  StateView view(const State& state, double time) const { return {frame_, state.tokens, state.notes, time}; }
  int updates() const { return static_cast<int>(times_.size()) - 1; }
  Step step_at(int i) const {
    return {i, updates(), times_[static_cast<std::size_t>(i)], times_[static_cast<std::size_t>(i) + 1]};
  }
  std::unique_ptr<Draws> open(Key key) { return std::make_unique<WatchedDraws>(PhiloxSource().open(key), findings_); }
  Key path_key(int path, int step) const {
    return Key{options_.seed}
        .child(kPath)
        .child(static_cast<std::uint64_t>(path))
        .child(static_cast<std::uint64_t>(step));
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  enum Purpose : std::uint64_t { kCoins = 1, kTokens, kPath, kFrequencies };

  const Backward& process_;
  Denoiser& denoiser_;
  Frame frame_;
  const ConformanceOptions& options_;
  State start_;
  Findings findings_;
  std::vector<double> times_;
  std::vector<Scene> scenes_;

  PredictionPtr prediction_;
  std::vector<Token> predicted_;
  double predicted_time_ = -1;
};

}  // namespace

std::vector<std::string> check_backward(const Backward& process, Denoiser& denoiser, const Canvas& canvas, int steps,
                                        ConformanceOptions options) {
  return BackwardCheck(process, denoiser, canvas, options).run(steps);
}

}  // namespace pgdlm
