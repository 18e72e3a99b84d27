// Calls to the user's Denoiser and Reward with the part of their contract that can be checked at every call: one
// answer per question. What breaks it is Error{bad_model}; what the plugin throws itself goes through unchanged.
#pragma once

#include <span>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

std::vector<PredictionPtr> checked_predict(Denoiser& denoiser, std::span<const StateView> states);
std::size_t checked_prepare(Denoiser& denoiser, std::span<const Reading> readings);
std::vector<double> checked_score(Reward& reward, std::span<const Candidate> candidates);

}  // namespace pgdlm
