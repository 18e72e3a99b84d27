// Where the World of a request sends its work. Two implementations: the engine's lanes, which batch jobs of all
// requests, and InlineCompute, which runs them on the spot (tests and laws).
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "base/task.h"
#include "pgdlm/events.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// "Predict this state, then do that with the prediction." The reduction runs beside the logits, so only edits and
// candidates travel back. Jobs of one call are independent; their reductions may run on other threads, at the same time
// unless they read the same prediction.
struct PredictJob {
  std::vector<Token> tokens;
  std::vector<float> notes;
  double time = 1;
  std::function<void(StateView, const Prediction&)> reduce;
  std::vector<Position> rows = {};  // what it will read, so that a network can compute these rows together
  Position horizon = std::numeric_limits<Position>::max();  // of the state, see StateView

  StateView state(const Frame& frame) const { return {frame, tokens, notes, time, horizon}; }
};

struct ScoreJob {
  std::vector<Token> tokens;
  int prompt = 0;
  bool complete = true;
  double* score = nullptr;  // written before the call returns; owned by the caller's frame
};

// One per request: it knows the frame, the reward and the cost of that request.
class Compute {
 public:
  virtual ~Compute() = default;
  virtual Task<void> predict(std::vector<PredictJob> jobs) = 0;
  virtual Task<void> score(std::vector<ScoreJob> jobs) = 0;
  virtual Cost cost() const = 0;
  virtual bool cancelled() const { return false; }
};

}  // namespace pgdlm
