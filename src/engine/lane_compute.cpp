#include "engine/lane_compute.h"

namespace pgdlm {
namespace {

// Suspends until the lane has settled the call. The coordinator, which runs us now, is also who will resume us, so the
// lane may settle before await_suspend has returned.
template <class Trade>
struct Settled {
  Lane<Trade>& lane;
  Call& call;
  const std::vector<typename Trade::Job>& jobs;

  bool await_ready() const noexcept { return jobs.empty(); }
  void await_suspend(std::coroutine_handle<> waiter) const {
    call.waiter = waiter;
    lane.enqueue(call, jobs);
  }
  void await_resume() const noexcept {}
};

}  // namespace

template <class Trade>
Task<void> LaneCompute::hand_over(Lane<Trade>& lane, std::vector<typename Trade::Job> jobs, std::uint64_t bucket,
                                  HashSet& asked) {
  Call call{.request = asking_.request, .bucket = bucket, .asked = &asked, .alone = asking_.alone};
  const Settled<Trade> settled{lane, call, jobs};
  co_await settled;
  cost_.forwards_run += call.cost.forwards_run;
  cost_.tokens_run += call.cost.tokens_run;
  cost_.rewards_run += call.cost.rewards_run;
  cost_.forwards_needed += call.needed.forwards_run;
  cost_.rewards_needed += call.needed.rewards_run;
  if (call.error) std::rethrow_exception(std::move(call.error));
}

Task<void> LaneCompute::predict(std::vector<PredictJob> jobs) {
  cost_.forwards_asked += static_cast<std::int64_t>(jobs.size()) * asking_.forwards_per_state;
  std::vector<PredictTrade::Job> handed;
  for (const PredictJob& job : jobs) handed.push_back({&job, asking_.frame});
  co_await hand_over(predict_lane_, std::move(handed), PredictTrade::bucket(*asking_.frame), states_);
}

Task<void> LaneCompute::score(std::vector<ScoreJob> jobs) {
  cost_.rewards_asked += static_cast<std::int64_t>(jobs.size());
  std::vector<ScoreTrade::Job> handed;
  for (const ScoreJob& job : jobs) {
    *job.score = 0;
    if (asking_.reward) handed.push_back({&job, asking_.reward.get(), asking_.reward_id});
  }
  co_await hand_over(score_lane_, std::move(handed), asking_.reward_id, texts_);
}

bool LaneCompute::spent() const {
  return cost_.forwards_asked >= asking_.limits.forwards || cost().seconds >= asking_.limits.seconds;
}

Cost LaneCompute::cost() const {
  Cost cost = cost_;
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  return cost;
}

}  // namespace pgdlm
