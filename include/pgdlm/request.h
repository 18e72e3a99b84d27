// What is submitted to an Engine: a canvas, how to denoise it, what to steer it by, and how hard to try.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "pgdlm/events.h"
#include "pgdlm/plan.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// The canvas before denoising: given tokens are pinned, mask tokens are to be generated.
struct Canvas {
  std::vector<Token> tokens;
  int prompt = 0;  // the first positions are the prompt
  Token eos = -1;
};

// What a trace still knows of an interrupted run: its edits, and how far the record is whole. A slot of a whole stage
// that left no event did not change.
struct Recording {
  std::vector<Edited> edits;
  int sweep = 0, step = 0;  // every stage before this step of this sweep is recorded
};

// What a request may use at most. It ends there with the best it has, whatever its plan says (Status::budget_spent).
struct Limits {
  std::int64_t forwards = std::numeric_limits<std::int64_t>::max();  // asked for
  double seconds = std::numeric_limits<double>::infinity();          // from its start
};

struct Request {
  Canvas canvas;
  int steps = 64;  // T
  std::shared_ptr<const Backward> process;
  std::shared_ptr<Reward> reward;  // null: every text scores 0
  Settings settings;
  std::uint64_t seed = 0;
  bool trace = false;  // emit Edited events: the run can be replayed and resumed
  bool live = false;   // emit Drafted events: somebody watches
  // Its states and texts are computed one by one, so that not even the last bits of a logit depend on the company.
  bool deterministic = false;
  Limits limits;
  Recording recorded;  // to resume from: what it holds is not computed again
  std::string config;  // passed on in RunStarted
};

}  // namespace pgdlm
