// What the two lanes do. A trade is used by its lane only; the jobs it sees point into suspended coroutine frames.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "diffusion/compute.h"
#include "diffusion/memo.h"
#include "engine/lane.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// One forward per distinct state; reductions run here, beside the logits: those of one prediction one after the other,
// those of different predictions on as many threads as there are.
class PredictTrade {
 public:
  struct Job {
    const PredictJob* job;
    const Frame* frame;

    StateView state() const { return job->state(*frame); }
  };
  using Value = PredictionPtr;

  PredictTrade(std::shared_ptr<Denoiser> denoiser, int threads);

  MemoKey key(const Job& job) const;
  std::vector<Value> run(const std::vector<Job>& jobs);
  std::size_t prepare(std::span<const Handing<Job, Value>> handings);
  std::vector<std::exception_ptr> deliver(std::span<const Handing<Job, Value>> handings);
  void charge(const Job& job, Cost& cost) const;
  std::size_t bytes(const Value& prediction) const { return prediction->bytes(); }

  // Lengths of one bucket share a batch, so that a forward is not held up by one long row.
  static std::uint64_t bucket(const Frame& frame);

 private:
  static constexpr int kBucketLength = 32;
  static constexpr std::int64_t kWorthSharing = 1 << 18;  // logits; fewer are read before another thread is awake

  std::shared_ptr<Denoiser> denoiser_;
  bool time_dependent_;  // asked once: the denoiser belongs to one thread, keys are made on another
  int forwards_per_state_;
  std::unique_ptr<Crew> crew_;
};

// One scoring per distinct text and reward. A batch has one reward: the bucket is its id.
class ScoreTrade {
 public:
  struct Job {
    const ScoreJob* job;
    Reward* reward;
    std::uint64_t reward_id;  // unlike the address, never used again

    Candidate candidate() const { return {job->tokens, job->prompt, job->complete}; }
  };
  using Value = double;

  MemoKey key(const Job& job) const { return reward_key(job.reward_id, *job.reward, job.candidate()); }
  std::vector<Value> run(const std::vector<Job>& jobs);
  std::size_t prepare(std::span<const Handing<Job, Value>> handings) const { return handings.size(); }
  std::vector<std::exception_ptr> deliver(std::span<const Handing<Job, Value>> handings) const;
  void charge(const Job&, Cost& cost) const { ++cost.rewards_run; }
  std::size_t bytes(Value) const { return sizeof(Value); }
};

}  // namespace pgdlm
