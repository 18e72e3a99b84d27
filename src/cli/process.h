// From options to a backward process and to the denoiser it asks.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "cli/options.h"
#include "models/toy.h"
#include "pgdlm/plugin.h"

namespace pgdlm::cli {

// Makes options.process; what was left open is filled in.
std::shared_ptr<const Backward> settle_process(GenerateOptions& options);

// The model's own, or guided by itself without the prompt.
std::shared_ptr<Denoiser> make_denoiser(const GenerateOptions& options, const ToyModel& model);

// Long names of the options that change nothing under options.process.
std::set<std::string> unused_by_process(const GenerateOptions& options);

}  // namespace pgdlm::cli
