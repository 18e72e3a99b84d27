// What is kept of an answer. As JSON it is the same bytes wherever and in whatever company the request ran.
#pragma once

#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "eval/diagnostics.h"
#include "pgdlm/answer.h"

namespace pgdlm {

struct Result {
  std::string text, reply;  // see Passage
  std::string status;
  double reward = 0;  // -inf: forbidden
  double log_z = 0;
  int particles = 0;
  std::int64_t forwards_asked = 0, forwards_needed = 0;
  std::int64_t rewards_asked = 0, rewards_needed = 0;
  std::vector<SweepFacts> by_sweep;  // the start included
};

Result result_of(const Answer& answer, std::vector<SweepFacts> by_sweep, const LanguageModel& model);
std::string to_json(const Result& result);
Result result_from_json(const std::string& text);  // Error{invalid_request} if to_json has not written it

}  // namespace pgdlm
