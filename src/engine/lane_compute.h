// The Compute of one request in the engine: its jobs go to the lanes that all requests share. Owned by the request,
// used on the coordinator's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diffusion/compute.h"
#include "engine/lane.h"
#include "engine/trades.h"
#include "pgdlm/request.h"

namespace pgdlm {

using PredictLane = Lane<PredictTrade>;
using ScoreLane = Lane<ScoreTrade>;

// Whose jobs they are.
struct Asking {
  std::uint64_t request = 0;
  const Frame* frame = nullptr;  // outlives the LaneCompute
  int forwards_per_state = 1;
  std::shared_ptr<Reward> reward;  // null: every text scores 0
  std::uint64_t reward_id = 0;     // names the reward in the memo
  bool alone = false;              // shares no run with others
  Limits limits;
};

class LaneCompute final : public Compute {
 public:
  LaneCompute(PredictLane& predict_lane, ScoreLane& score_lane, Asking asking)
      : predict_lane_(predict_lane), score_lane_(score_lane), asking_(std::move(asking)) {}

  Task<void> predict(std::vector<PredictJob> jobs) override;
  Task<void> score(std::vector<ScoreJob> jobs) override;
  Cost cost() const override;
  bool cancelled() const override { return cancelled_ || spent(); }

  void cancel() { cancelled_ = true; }
  bool asked_to_stop() const { return cancelled_; }

 private:
  bool spent() const;  // it has reached a limit
  template <class Trade>
  Task<void> hand_over(Lane<Trade>& lane, std::vector<typename Trade::Job> jobs, std::uint64_t bucket, HashSet& asked);

  PredictLane& predict_lane_;
  ScoreLane& score_lane_;
  Asking asking_;
  Cost cost_;
  HashSet states_, texts_;  // asked for so far
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace pgdlm
