#include "eval/result.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "options/names.h"
#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// JSON has no -inf, which is the only one there can be: the engine refuses other rewards.
ordered_json finite(double value) {
  PGDLM_CHECK(std::isfinite(value) || value == -std::numeric_limits<double>::infinity());
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}
double or_minus_infinity(const json& value) {
  return value.is_null() ? -std::numeric_limits<double>::infinity() : value.get<double>();
}

}  // namespace

Result result_of(const Answer& answer, const LanguageModel& model) {
  const Passage passage = model.read(answer.tokens, answer.prompt);
  return {.text = valid_utf8(passage.text),
          .reply = valid_utf8(passage.reply),
          .status = name_of(answer.status),
          .reward = answer.reward,
          .log_z = answer.log_z,
          .sweeps = answer.sweeps,
          .particles = answer.particles,
          .forwards_asked = answer.cost.forwards_asked,
          .forwards_needed = answer.cost.forwards_needed,
          .rewards_asked = answer.cost.rewards_asked,
          .rewards_needed = answer.cost.rewards_needed};
}

std::string to_json(const Result& r) {
  return ordered_json{{"text", r.text},
                      {"reply", r.reply},
                      {"status", r.status},
                      {"reward", finite(r.reward)},
                      {"log_z", finite(r.log_z)},
                      {"sweeps", r.sweeps},
                      {"particles_used", r.particles},
                      {"forwards_asked", r.forwards_asked},
                      {"forwards_needed", r.forwards_needed},
                      {"rewards_asked", r.rewards_asked},
                      {"rewards_needed", r.rewards_needed}}
      .dump();
}

Result result_from_json(const std::string& text) try {
  const json o = json::parse(text);
  return {.text = o.at("text"),
          .reply = o.at("reply"),
          .status = o.at("status"),
          .reward = or_minus_infinity(o.at("reward")),
          .log_z = or_minus_infinity(o.at("log_z")),
          .sweeps = o.at("sweeps"),
          .particles = o.at("particles_used"),
          .forwards_asked = o.at("forwards_asked"),
          .forwards_needed = o.at("forwards_needed"),
          .rewards_asked = o.at("rewards_asked"),
          .rewards_needed = o.at("rewards_needed")};
} catch (const json::exception& e) {
  throw Error(ErrorCode::invalid_request, std::string("a stored result cannot be read: ") + e.what());
}

}  // namespace pgdlm
