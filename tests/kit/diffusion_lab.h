// A Lab over the real DiffusionWorld with a toy denoiser and reward: the laws of every backward process and valuer.
#pragma once

#include <memory>

#include "diffusion/inline_compute.h"
#include "kit/lab.h"
#include "kit/toy_denoiser.h"
#include "pgdlm/request.h"

namespace pgdlm::kit {

struct DiffusionSetup {
  std::shared_ptr<const Backward> process;
  int length = 2;  // positions to generate
  int tokens = 2;  // vocabulary without the mask
  int steps = 2;
  Settings settings;
  ToyRewardOptions reward = {};
};

// Keeps everything the lab refers to. Predictions are shared between the executions of an enumeration.
class DiffusionLab {
 public:
  explicit DiffusionLab(const DiffusionSetup& setup);
  DiffusionLab(const DiffusionLab&) = delete;
  DiffusionLab& operator=(const DiffusionLab&) = delete;

  Lab lab();
  const Plan& plan() const { return request_.settings.plan; }
  const Request& request() const { return request_; }

 private:
  Trail trail(const World& world, NodeId leaf) const;

  ToyDenoiser denoiser_;
  ToyReward reward_;
  Request request_;
  Frame frame_;
  InlineCompute compute_;
  Schedule schedule_;
};

}  // namespace pgdlm::kit
