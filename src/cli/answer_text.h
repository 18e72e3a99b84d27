// What a user reads of an answer: one JSON object, or the text and a short summary.
#pragma once

#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "options/options.h"
#include "pgdlm/answer.h"

namespace pgdlm::cli {

// One text per seed. The first is also at the top level; more than one make the array `samples`.
std::string json_report(const std::vector<Answer>& answers, const GenerateOptions& options, const LanguageModel& model);

std::string summary(const Answer& answer, const GenerateOptions& options);  // for a reader, several lines

}  // namespace pgdlm::cli
