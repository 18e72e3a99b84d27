// The Compute that runs every job on the spot, in the order given: for tests, laws and tools that need no engine.
// Owned by its caller, like all it refers to; used by one thread. Costs and reuse follow the engine's rules.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "diffusion/compute.h"
#include "diffusion/memo.h"

namespace pgdlm {

class InlineCompute final : public Compute {
 public:
  // A null reward scores every text 0. Without memo every job runs its own forward or scoring.
  InlineCompute(Denoiser& denoiser, Reward* reward, const Frame& frame, bool memo = true);

  Task<void> predict(std::vector<PredictJob> jobs) override;
  Task<void> score(std::vector<ScoreJob> jobs) override;
  Cost cost() const override;

 private:
  std::vector<PredictionPtr> look_up(const std::vector<PredictJob>& jobs);
  std::vector<PredictionPtr> run(const std::vector<PredictJob>& jobs, const std::vector<std::size_t>& which);

  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max() / 2;

  Denoiser& denoiser_;
  Reward* reward_;
  const Frame& frame_;
  bool memo_;
  Memo<PredictionPtr> predictions_{kNoLimit};
  Memo<double> scores_{kNoLimit};
  Cost cost_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace pgdlm
