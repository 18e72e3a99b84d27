// A request from its first event to its answer: its world, its compute, its sampler's coroutine. Owned by the engine,
// used on the coordinator's thread. It may be destroyed while its coroutine is suspended, once the lanes stand still.
#pragma once

#include <exception>
#include <optional>

#include "base/philox.h"
#include "diffusion/diffusion_world.h"
#include "engine/lane_compute.h"
#include "engine/mailbox.h"
#include "smc/samplers.h"

namespace pgdlm {

class Running {
 public:
  Running(Arrival arrival, PredictLane& predict_lane, ScoreLane& score_lane, const Denoiser& denoiser,
          std::uint64_t reward_id);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void start();  // up to the first wait for a lane
  void cancel() { compute_.cancel(); }
  bool done() const { return error_ != nullptr || (task_ && task_->done()); }

  // Once done: emits the last events and hands the answer, or the error, to whoever submitted the request.
  void conclude();

 private:
  Answer answer();
  std::vector<ScoredText> candidates(const Cloud& cloud) const;

  Arrival arrival_;
  Frame frame_;
  LaneCompute compute_;
  PhiloxSource source_;
  std::exception_ptr error_;             // of what happened outside the coroutine
  std::optional<DiffusionWorld> world_;  // made at the start
  std::optional<Task<Outcome>> task_;    // last: its frames refer to all of the above
};

}  // namespace pgdlm
