#include "engine/trades.h"

#include "diffusion/checked.h"

namespace pgdlm {

PredictTrade::PredictTrade(std::shared_ptr<Denoiser> denoiser)
    : denoiser_(std::move(denoiser)),
      time_dependent_(denoiser_->time_dependent()),
      forwards_per_state_(denoiser_->forwards_per_state()) {}

MemoKey PredictTrade::key(const Job& job) const { return prediction_key(job.state(), time_dependent_); }

std::vector<PredictionPtr> PredictTrade::run(const std::vector<Job>& jobs) {
  std::vector<StateView> states;
  states.reserve(jobs.size());
  for (const Job& job : jobs) states.push_back(job.state());
  return checked_predict(*denoiser_, states);
}

std::size_t PredictTrade::prepare(std::span<const Handing<Job, Value>> handings) {
  std::vector<Reading> readings;
  readings.reserve(handings.size());
  for (const auto& [job, prediction] : handings) readings.push_back({prediction->get(), job->job->rows});
  return checked_prepare(*denoiser_, readings);
}

void PredictTrade::charge(const Job& job, Cost& cost) const {
  cost.forwards_run += forwards_per_state_;
  cost.tokens_run += static_cast<std::int64_t>(job.job->tokens.size());
}

std::uint64_t PredictTrade::bucket(const Frame& frame) {
  return static_cast<std::uint64_t>((frame.length() + kBucketLength - 1) / kBucketLength);
}

std::vector<double> ScoreTrade::run(const std::vector<Job>& jobs) {
  std::vector<Candidate> candidates;
  candidates.reserve(jobs.size());
  for (const Job& job : jobs) candidates.push_back(job.candidate());
  return checked_score(*jobs.front().reward, candidates);
}

}  // namespace pgdlm
