// The three things a user can bring: a Denoiser (the network), a Backward process (how a step of denoising is
// drawn from its prediction) and a Reward. Any denoiser runs under any process and any reward.
// pgdlm/conformance.h checks the contracts below for every implementation, ours and yours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pgdlm/draws.h"

namespace pgdlm {

using Token = std::int32_t;
using Position = std::int32_t;

// What stays the same during a request. Owned by the World of the request, outlives all views.
struct Frame {
  Token mask = -1;
  Token eos = -1;                    // -1: the vocabulary has none
  int vocab = 0;                     // logits per position; the mask token may be one of them
  int prompt = 0;                    // the first positions are the prompt
  std::vector<std::uint8_t> pinned;  // [length] 1: given (prompt, infilling), never denoised nor remasked

  int length() const { return static_cast<int>(pinned.size()); }
};

// A state x_t: the canvas, and what the process remembers of each position (see Backward::remembers).
struct StateView {
  const Frame& frame;
  std::span<const Token> tokens;  // [length]
  std::span<const float> notes;   // [length]; all 0 unless the process writes notes
  double time = 1;                // t in (0, 1], for time-dependent denoisers
  // No position from here on will be read of this state's prediction (a process that works in blocks).
  Position horizon = std::numeric_limits<Position>::max();

  bool masked(Position l) const { return tokens[l] == frame.mask && !frame.pinned[l]; }
};

// x_θ(x_t): what a network says of one state. Immutable; read by one thread at a time, while others may read other
// predictions of the same denoiser.
class Prediction {
 public:
  virtual ~Prediction() = default;
  // Raw logits of a position, [vocab], before any masking rule, temperature or filter. Finite, or -inf: never drawn.
  // Masked positions below the horizon are meant to be read; others may cost a forward. Use a row before asking for the
  // next: it need not stay, logits are large.
  virtual std::span<const float> logits(Position) const = 0;
  virtual std::size_t bytes() const = 0;  // what the memo's budget is charged
};
using PredictionPtr = std::shared_ptr<const Prediction>;

// The simplest one: a table of logits, row by row.
class TablePrediction final : public Prediction {
 public:
  TablePrediction(int vocab, std::vector<float> rows) : vocab_(vocab), rows_(std::move(rows)) {}  // [length, vocab]
  std::span<const float> logits(Position l) const override {
    return std::span(rows_).subspan(static_cast<std::size_t>(l) * vocab_, vocab_);
  }
  std::size_t bytes() const override { return sizeof(*this) + rows_.size() * sizeof(float); }

 private:
  std::size_t vocab_;
  std::vector<float> rows_;
};

// What a reduction is about to read of a prediction.
struct Reading {
  const Prediction* prediction = nullptr;
  std::span<const Position> rows;
};

// predict is called by one thread at a time, the const members by any. A prediction is a function of the tokens, of
// where the prompt ends (guidance looks at it), of time if it says so, and of nothing else: neither the batch nor the
// order may change it.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual std::vector<PredictionPtr> predict(std::span<const StateView> states) = 0;
  // Announces what will be read of predictions made here, so that a network can project all those rows together. Says
  // how many of the readings, from the first on, are ready (at least one); the caller reads these and calls again for
  // the rest. Only a matter of speed: rows that were not announced can be read too.
  virtual std::size_t prepare(std::span<const Reading> readings) { return readings.size(); }
  virtual int vocab() const = 0;
  virtual Token mask() const = 0;
  virtual bool time_dependent() const { return false; }
  virtual int forwards_per_state() const { return 1; }  // guidance asks its network twice
};

// One of the T updates of a trajectory, from time t to time s < t. Times run from 1 to 0.
struct Step {
  int index = 0;  // 0 .. count-1 in the order of denoising
  int count = 1;
  double t = 1, s = 0;

  bool last() const { return index + 1 == count; }
};

// What one step does to one position. The mask token remasks.
struct Edit {
  Position position = 0;
  Token token = 0;
  float note = 0;
  friend bool operator==(const Edit&, const Edit&) = default;
};
using Move = std::vector<Edit>;

// What a process decides about a step before it sees any logits.
struct Decision {
  Move ready;                    // edits that need no prediction (remasked positions)
  std::vector<Position> reveal;  // positions whose token is to be drawn
  bool choose = false;           // logits decide which positions are revealed: a prediction is needed

  bool needs_prediction() const { return choose || !reveal.empty(); }
  bool quiet() const { return ready.empty() && !needs_prediction(); }
};

// p(x_{t-1} | x_t) given a prediction (Eq. 2). Stateless and shared between requests and threads.
// Edits touch unpinned positions only, each at most once, and after the last step no mask is left.
class Backward {
 public:
  virtual ~Backward() = default;

  // First the coins that need no logits; a quiet decision costs no forward.
  virtual Decision decide(StateView, Step, Draws&) const = 0;
  // Then the tokens. Returns the whole move, decision.ready included.
  virtual Move fill(StateView, const Decision&, const Prediction&, Step, Draws&) const = 0;

  // The greedy path: how many positions it changes at this step, and the move itself (asked for only if > 0).
  // It must have positive probability under decide and fill wherever those are random.
  virtual int greedy_quota(StateView, Step) const = 0;
  virtual Move greedy(StateView, const Prediction&, Step) const = 0;

  // log p(to | from), or nothing if the process has no closed form. Only ancestor sampling needs it.
  virtual std::optional<double> log_prob(StateView /*from*/, StateView /*to*/, const Prediction& /*of from*/,
                                         Step) const {
    return std::nullopt;
  }
  virtual bool scores_transitions() const { return false; }

  // No position from here on is read at this step: a process that works in blocks says where its block ends.
  virtual Position horizon(StateView, Step) const { return std::numeric_limits<Position>::max(); }

  // True if fill leaves nothing to chance: all particles would be the same.
  virtual bool deterministic() const { return false; }

  virtual bool remembers() const { return false; }                     // does it write notes?
  virtual std::vector<double> times(int steps) const;                  // [steps+1] from 1 to 0; default: equally spaced
  virtual std::vector<int> block_ends(const Frame&, int steps) const;  // step counts; default: {steps}
  virtual void validate(const Frame&, int /*steps*/) const {}          // throws Error{invalid_request}
};

// A completed canvas, or the finished prefix of one, to be scored.
struct Candidate {
  std::span<const Token> tokens;  // prompt included
  int prompt = 0;
  bool complete = true;  // false: a prefix of an unfinished canvas (only if accepts_prefixes)
};

// r(c, x0). A function of the candidate alone. -inf forbids a text; NaN is an error. Called by one thread at a time.
class Reward {
 public:
  virtual ~Reward() = default;
  virtual std::vector<double> score(std::span<const Candidate>) = 0;
  virtual bool accepts_prefixes() const { return false; }
  // What it reads, where that is less than the candidate (its text without what follows the end, say): candidates of
  // which it reads the same have the same score, and one of them is scored. Nothing: all of it. Any thread.
  virtual std::optional<std::string> reads(const Candidate&) const { return std::nullopt; }
};

}  // namespace pgdlm
