// One append-only stream of typed events per request. Terminal progress, traces, replay, the web view and the
// golden tests consume nothing else; samplers never print. docs/events.md lists the JSON form.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

// What a request asked for and what was really run (law 7).
struct Cost {
  std::int64_t forwards_asked = 0, forwards_run = 0;
  std::int64_t tokens_run = 0;
  std::int64_t rewards_asked = 0, rewards_run = 0;
  // Different states and texts among those asked for: what a run alone, with memory for all of them, computes. It does
  // not depend on the company a request had.
  std::int64_t forwards_needed = 0, rewards_needed = 0;
  double seconds = 0;
};

struct RunStarted {
  std::uint64_t seed = 0;
  std::string config;  // JSON text made at the edge: everything needed to run it again
  std::vector<Token> canvas;
};
struct Weighed {
  int sweep = 0, step = 0;  // after this many denoising steps
  std::vector<double> values, log_weights;
  double ess = 0, log_z = 0;
  int reference = -1;  // slot, -1: none
};
struct Resampled {
  int sweep = 0, step = 0;
  std::vector<int> parents;
  int reference = -1;  // its slot afterwards
};
struct TimedEdit {
  int step = 0;
  Edit edit;
};
struct Edited {                       // trace level only
  int sweep = 0, step = 0, slot = 0;  // step: where the stage began
  std::vector<TimedEdit> edits;
  bool fresh = false;  // the value was estimated in this stage
  double value = 0;
};
struct Drafted {                      // live only, never in a trace: what a particle looks like on its way
  int sweep = 0, step = 0, slot = 0;  // after this many denoising steps
  std::vector<Token> canvas;
};
struct Selected {
  int sweep = 0, slot = 0;
  double reward = 0;
  bool reference = false;  // the old reference was kept
};
struct Spent {
  Cost cost;
};
struct RunFinished {
  std::string status;  // done, degenerate, budget_spent, cancelled, failed
  double reward = 0;
};

using Event = std::variant<RunStarted, Weighed, Resampled, Edited, Drafted, Selected, Spent, RunFinished>;

// Called on the coordinator's thread, in the order of the run.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(const Event&) = 0;
};

}  // namespace pgdlm
