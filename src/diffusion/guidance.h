// Classifier-free guidance: a Denoiser that asks another one twice, with and without the prompt.
#pragma once

#include <memory>

#include "pgdlm/plugin.h"

namespace pgdlm {

// logits = un + (scale + 1) (cond - un), where `un` is predicted with the pinned prompt positions masked.
// Scale 0 gives the conditional prediction. Infilled positions behind the prompt stay visible to both.
std::shared_ptr<Denoiser> make_guided(std::shared_ptr<Denoiser> denoiser, double scale);

}  // namespace pgdlm
