#include "diffusion/inline_compute.h"

#include <utility>

#include "diffusion/checked.h"

namespace pgdlm {

InlineCompute::InlineCompute(Denoiser& denoiser, Reward* reward, const Frame& frame, bool memo)
    : denoiser_(denoiser), reward_(reward), frame_(frame), memo_(memo) {}

std::vector<PredictionPtr> InlineCompute::run(const std::vector<PredictJob>& jobs,
                                              const std::vector<std::size_t>& which) {
  if (which.empty()) return {};
  std::vector<StateView> states;
  for (const std::size_t i : which) {
    states.push_back(jobs[i].state(frame_));
    cost_.forwards_run += denoiser_.forwards_per_state();
    cost_.tokens_run += static_cast<std::int64_t>(jobs[i].tokens.size());
  }
  return checked_predict(denoiser_, states);
}

// One forward per distinct state that was never seen before; all other jobs share what is known.
std::vector<PredictionPtr> InlineCompute::look_up(const std::vector<PredictJob>& jobs) {
  std::vector<MemoKey> keys;
  keys.reserve(jobs.size());
  std::vector<PredictionPtr> predictions(jobs.size());
  std::vector<std::size_t> missing, asker(jobs.size());
  KeyIndex<std::size_t> first;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    keys.push_back(prediction_key(jobs[i].state(frame_), denoiser_.time_dependent()));
    if (const PredictionPtr* known = predictions_.find(keys[i])) predictions[i] = *known;
    asker[i] = first.emplace(&keys[i], i).first->second;
    if (!predictions[i] && asker[i] == i) missing.push_back(i);
  }
  const std::vector<PredictionPtr> fresh = run(jobs, missing);
  for (std::size_t m = 0; m < missing.size(); ++m) {
    predictions[missing[m]] = fresh[m];
    predictions_.insert(std::move(keys[missing[m]]), fresh[m], fresh[m]->bytes());
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) predictions[i] = predictions[asker[i]];
  return predictions;
}

Task<void> InlineCompute::predict(std::vector<PredictJob> jobs) {
  cost_.forwards_asked += static_cast<std::int64_t>(jobs.size()) * denoiser_.forwards_per_state();
  std::vector<PredictionPtr> predictions;
  if (memo_) {
    predictions = look_up(jobs);
  } else {
    std::vector<std::size_t> all(jobs.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    predictions = run(jobs, all);
  }
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < jobs.size(); ++i) readings.push_back({predictions[i].get(), jobs[i].rows});
  for (std::size_t i = 0, ready = 0; i < jobs.size(); ++i) {
    if (i == ready) ready += checked_prepare(denoiser_, std::span(readings).subspan(i));
    jobs[i].reduce(jobs[i].state(frame_), *predictions[i]);
  }
  co_return;
}

Task<void> InlineCompute::score(std::vector<ScoreJob> jobs) {
  cost_.rewards_asked += static_cast<std::int64_t>(jobs.size());
  for (const ScoreJob& job : jobs) {
    *job.score = 0;
    if (reward_ == nullptr) continue;
    const Candidate candidate{job.tokens, job.prompt, job.complete};
    MemoKey key = reward_key(0, *reward_, candidate);
    if (const double* known = memo_ ? scores_.find(key) : nullptr) {
      *job.score = *known;
      continue;
    }
    *job.score = checked_score(*reward_, {&candidate, 1}).front();
    ++cost_.rewards_run;
    if (memo_) scores_.insert(std::move(key), *job.score, sizeof(double));
  }
  co_return;
}

Cost InlineCompute::cost() const {
  Cost cost = cost_;
  if (memo_) {  // it forgets nothing
    cost.forwards_needed = cost.forwards_run;
    cost.rewards_needed = cost.rewards_run;
  }
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  return cost;
}

}  // namespace pgdlm
