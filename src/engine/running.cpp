#include "engine/running.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/log_math.h"
#include "diffusion/schedule.h"

namespace pgdlm {
namespace {

const char* name(Status status) {
  switch (status) {
    case Status::done: return "done";
    case Status::degenerate: return "degenerate";
    case Status::budget_spent: return "budget_spent";
    case Status::cancelled: return "cancelled";
  }
  return "done";
}

}  // namespace

Running::Running(Arrival arrival, PredictLane& predict_lane, ScoreLane& score_lane, const Denoiser& denoiser,
                 std::uint64_t reward_id)
    : arrival_(std::move(arrival)),
      frame_(make_frame(arrival_.request.canvas, denoiser)),
      compute_(predict_lane, score_lane,
               {.request = arrival_.ticket,
                .frame = &frame_,
                .forwards_per_state = denoiser.forwards_per_state(),
                .reward = arrival_.request.reward,
                .reward_id = reward_id,
                .alone = arrival_.request.deterministic,
                .limits = arrival_.request.limits}) {}

void Running::start() {
  const Request& request = arrival_.request;
  try {
    arrival_.events->emit(RunStarted{request.seed, request.config, request.canvas.tokens});
    world_.emplace(request, frame_, compute_, source_, *arrival_.events);
    const Run run{.world = *world_, .source = source_, .events = *arrival_.events, .key = {.seed = request.seed}};
    const Schedule schedule = make_schedule(*request.process, frame_, request.steps, request.settings);
    task_ = run_sampler(run, request.settings.plan, schedule);
    task_->start();
  } catch (...) {
    error_ = std::current_exception();
  }
}

std::vector<ScoredText> Running::candidates(const Cloud& cloud) const {
  std::vector<double> log_weights;
  for (const Particle& particle : cloud.particles) log_weights.push_back(particle.log_weight);
  const double total = log_sum_exp(log_weights);

  std::vector<ScoredText> texts;
  for (const Particle& particle : cloud.particles) {
    const bool weightless = std::isinf(total);  // degenerate: no particle has any weight to share
    texts.push_back({.tokens = world_->tree().read(particle.node).tokens,
                     .reward = particle.value,
                     .log_weight = weightless ? particle.log_weight : particle.log_weight - total});
  }
  return texts;
}

Answer Running::answer() {
  const Outcome outcome = task_->take();
  const bool limited = outcome.status == Status::cancelled && !compute_.asked_to_stop();
  return {.status = limited ? Status::budget_spent : outcome.status,
          .tokens = world_->tree().read(outcome.leaf).tokens,
          .prompt = frame_.prompt,
          .reward = outcome.reward,
          .candidates = candidates(outcome.cloud),
          .log_z = outcome.cloud.log_z,
          .selection = arrival_.request.settings.plan.selection,
          .sweeps = outcome.sweeps,
          .particles = outcome.particles,
          .seed = arrival_.request.seed,
          .cost = compute_.cost()};
}

void Running::conclude() {
  Answer result;
  try {
    if (error_) std::rethrow_exception(error_);
    result = answer();
    arrival_.events->emit(Spent{result.cost});
    arrival_.events->emit(RunFinished{name(result.status), result.reward});
  } catch (...) {
    error_ = std::current_exception();
  }
  if (error_) {
    result = {
        .reward = std::numeric_limits<double>::quiet_NaN(), .seed = arrival_.request.seed, .cost = compute_.cost()};
    try {
      arrival_.events->emit(Spent{result.cost});
      arrival_.events->emit(RunFinished{"failed", result.reward});
    } catch (...) {
      // The sink itself is broken; the first error is the one to report.
    }
  }
  // The exception goes with it: another thread may read it while this one lets go of the rest.
  arrival_.finished(arrival_.ticket, std::exchange(error_, nullptr), std::move(result));
}

}  // namespace pgdlm
