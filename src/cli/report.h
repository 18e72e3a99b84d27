// What a user reads of an answer: one JSON object, or the text and a short summary.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "cli/options.h"
#include "pgdlm/answer.h"

namespace pgdlm::cli {

// What the user wants to read: the prompt and how it goes on, or of a chat the reply alone.
std::string text_of(std::span<const Token> tokens, int prompt, const GenerateOptions& options,
                    const LanguageModel& model);

// One text per seed. The first is also at the top level; more than one make the array `samples`.
std::string json_report(const std::vector<Answer>& answers, const GenerateOptions& options, const LanguageModel& model);

std::string summary(const Answer& answer, const GenerateOptions& options);  // for a reader, several lines

}  // namespace pgdlm::cli
