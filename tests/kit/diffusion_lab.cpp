#include "kit/diffusion_lab.h"

#include "diffusion/diffusion_world.h"
#include "diffusion/schedule.h"

namespace pgdlm::kit {
namespace {

struct Silent : EventSink {
  void emit(const Event&) override {}
};
Silent silent;

Request make_request(const DiffusionSetup& setup) {
  Request request;
  request.canvas.tokens.assign(static_cast<std::size_t>(setup.length), setup.tokens);
  request.steps = setup.steps;
  request.process = setup.process;
  request.settings = setup.settings;
  return request;
}

}  // namespace

DiffusionLab::DiffusionLab(const DiffusionSetup& setup)
    : denoiser_({.tokens = setup.tokens}),
      reward_(setup.reward),
      request_(make_request(setup)),
      frame_(make_frame(request_.canvas, denoiser_)),
      compute_(denoiser_, &reward_, frame_),
      schedule_(make_schedule(*request_.process, frame_, request_.steps, request_.settings)) {
  request_.process->validate(frame_, request_.steps);
}

Lab DiffusionLab::lab() {
  const auto open = [this](Source& source) -> std::unique_ptr<World> {
    return std::make_unique<DiffusionWorld>(request_, frame_, compute_, source, silent);
  };
  return {open, [this](const World& world, NodeId leaf) { return trail(world, leaf); }, schedule_};
}

// The canvas and the notes at the end of every stage, and the values there.
Trail DiffusionLab::trail(const World& world, NodeId leaf) const {
  const auto& diffusion = static_cast<const DiffusionWorld&>(world);
  Trail trail;
  for (const Stage& stage : schedule_) {
    const Child child = diffusion.along(leaf, stage);
    const State state = diffusion.tree().read(child.node);
    trail.states.insert(trail.states.end(), state.tokens.begin(), state.tokens.end());
    trail.values.insert(trail.values.end(), state.notes.begin(), state.notes.end());
    trail.values.push_back(child.value);
  }
  return trail;
}

}  // namespace pgdlm::kit
