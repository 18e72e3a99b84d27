// From options to a backward process and to the denoiser it asks.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "catalog/language_model.h"
#include "options/options.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// Makes options.process, which must be chosen; what was left open is filled in. `eot`: the model's end of a turn, or
// -1.
std::shared_ptr<const Backward> settle_process(GenerateOptions& options, Token eot);

// The model's own, or guided by itself without the prompt.
std::shared_ptr<Denoiser> make_denoiser(const GenerateOptions& options, const LanguageModel& model);

// Long names of the options that change nothing under a process.
std::set<std::string> unused_by_process(Process process);

}  // namespace pgdlm
