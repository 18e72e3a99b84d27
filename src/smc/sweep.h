// The one kernel: a conditional sweep over denoising time (law 2). SMC is a sweep without a reference, best-of-n a
// sweep that never resamples, greedy a sweep of one, particle Gibbs a loop of sweeps.
#pragma once

#include <optional>

#include "smc/population.h"
#include "smc/world.h"

namespace pgdlm {

// The reference is a leaf of the world's tree; it keeps its states and values and costs nothing.
// Requires plan.scheme, and its conditional law if there is a reference.
Task<Cloud> sweep(Run run, Plan plan, Schedule schedule, std::optional<NodeId> reference);

}  // namespace pgdlm
