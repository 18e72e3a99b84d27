// From denoising steps to the stages of a sweep: when are weights looked at?
#pragma once

#include "pgdlm/plan.h"
#include "pgdlm/plugin.h"
#include "smc/world.h"

namespace pgdlm {

// The frame of a canvas: every token that is not a mask is pinned.
struct Canvas;
Frame make_frame(const Canvas& canvas, const Denoiser& denoiser);

// Stages for `steps` requested steps of the process. Greedy and best-of-n look at the end only.
Schedule make_schedule(const Backward& process, const Frame& frame, int steps, const Settings& settings);

}  // namespace pgdlm
