// Memory of the ancestry tree: bytes per particle and per edit after a sweep of MDLM, at T = 128, 1024 and 8192 steps.
// The number of edits is that of the canvas, so the figures stay put while T grows: nothing is stored per step.
#include <benchmark/benchmark.h>

#include "base/philox.h"
#include "diffusion/diffusion_world.h"
#include "diffusion/inline_compute.h"
#include "diffusion/schedule.h"
#include "kit/toy_denoiser.h"
#include "pgdlm/processes.h"
#include "smc/samplers.h"

namespace pgdlm {
namespace {

struct Silent : EventSink {
  void emit(const Event&) override {}
};

void sweep_memory(benchmark::State& state) {
  constexpr int kLength = 128, kParticles = 16;
  const int steps = static_cast<int>(state.range(0));
  std::size_t bytes = 0, nodes = 0, edits = 0;
  for (auto _ : state) {
    kit::ToyDenoiser denoiser({.tokens = 8});
    kit::ToyReward reward;
    Request request{.steps = steps, .process = make_mdlm(), .settings = preset(Preset::exact, Method::smc)};
    request.canvas.tokens.assign(kLength, denoiser.mask());
    request.settings.plan.particles = kParticles;
    request.settings.plan.ess_floor = std::nullopt;
    const Frame frame = make_frame(request.canvas, denoiser);
    PhiloxSource source;
    Silent silent;
    InlineCompute compute(denoiser, &reward, frame);
    DiffusionWorld world(request, frame, compute, source, silent);
    const Outcome outcome = run_inline(run_sampler(Run{world, source, silent, Key{1}}, request.settings.plan,
                                                   make_schedule(*request.process, frame, steps, request.settings)));
    bytes = world.tree().bytes();
    nodes = world.tree().size();
    edits = 0;
    for (NodeId id : world.tree().path(outcome.leaf)) edits += world.tree().at(id).edits.size();
  }
  state.counters["bytes/particle"] = static_cast<double>(bytes) / kParticles;
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["edits/path"] = static_cast<double>(edits);
  state.counters["T*L*4"] = static_cast<double>(steps) * kLength * 4;  // what storing every canvas would take
}
BENCHMARK(sweep_memory)->Arg(128)->Arg(1024)->Arg(8192)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace pgdlm
