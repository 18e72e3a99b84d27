#include "engine/trades.h"

#include <map>

#include "diffusion/checked.h"

namespace pgdlm {

PredictTrade::PredictTrade(std::shared_ptr<Denoiser> denoiser, int threads)
    : denoiser_(std::move(denoiser)),
      time_dependent_(denoiser_->time_dependent()),
      forwards_per_state_(denoiser_->forwards_per_state()),
      crew_(std::make_unique<Crew>(threads)) {}

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

std::vector<std::exception_ptr> PredictTrade::deliver(std::span<const Handing<Job, Value>> handings) {
  std::map<const Prediction*, std::vector<std::size_t>> readers;
  std::int64_t logits = 0;
  for (std::size_t i = 0; i < handings.size(); ++i) {
    readers[handings[i].value->get()].push_back(i);
    logits += static_cast<std::int64_t>(handings[i].job->job->rows.size()) * handings[i].job->frame->vocab;
  }
  std::vector<const std::vector<std::size_t>*> hands;
  for (const auto& [prediction, which] : readers) hands.push_back(&which);
  std::vector<std::exception_ptr> failures(handings.size());
  const auto read = [&](int hand) {
    for (const std::size_t i : *hands[static_cast<std::size_t>(hand)]) {
      const Job& job = *handings[i].job;
      try {
        job.job->reduce(job.state(), **handings[i].value);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  const int count = static_cast<int>(hands.size());
  if (logits >= kWorthSharing)
    crew_->run(count, read);
  else
    for (int hand = 0; hand < count; ++hand) read(hand);
  return failures;
}

void PredictTrade::charge(const Job& job, Cost& cost) const {
  cost.forwards_run += forwards_per_state_;
  cost.tokens_run += static_cast<std::int64_t>(job.job->tokens.size());
}

std::uint64_t PredictTrade::bucket(const Frame& frame) {
  return static_cast<std::uint64_t>((frame.length() + kBucketLength - 1) / kBucketLength);
}

std::vector<std::exception_ptr> ScoreTrade::deliver(std::span<const Handing<Job, Value>> handings) const {
  for (const auto& [job, score] : handings) *job->job->score = *score;
  return std::vector<std::exception_ptr>(handings.size());
}

std::vector<double> ScoreTrade::run(const std::vector<Job>& jobs) {
  std::vector<Candidate> candidates;
  candidates.reserve(jobs.size());
  for (const Job& job : jobs) candidates.push_back(job.candidate());
  return checked_score(*jobs.front().reward, candidates);
}

}  // namespace pgdlm
