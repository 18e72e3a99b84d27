// From options to a request. Pure: no files, no terminal, no clock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "options/options.h"
#include "pgdlm/request.h"

namespace pgdlm {

// The same options with every choice made: what the command line left open is filled in from the preset, the model, the
// process and the reward. Settling twice changes nothing, so that a stored configuration runs as it was.
GenerateOptions settled(GenerateOptions options, const ModelDefaults& model, const Reward* reward);

// Requires settled options. Throws Error{invalid_request} naming the option.
Request make_request(const GenerateOptions& options, const LanguageModel& model, std::shared_ptr<Reward> reward);

// Error{invalid_request} if the prompt does not fit the model. Requires settled options.
void check_prompt(const GenerateOptions& options, const LanguageModel& model);

// Long names of options that were given (the others are empty) and that change nothing here.
std::vector<std::string> without_effect(const GenerateOptions& options, const ModelDefaults& model,
                                        const Reward* reward);

}  // namespace pgdlm
