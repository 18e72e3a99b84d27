#include "eval/result.h"

#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "options/names.h"
#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// JSON has no -inf. Anything else that is not finite (fk's arithmetic can do it) is as good as that.
ordered_json finite(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }
double or_minus_infinity(const json& value) {
  return value.is_null() ? -std::numeric_limits<double>::infinity() : value.get<double>();
}

ordered_json to_array(const std::vector<SweepFacts>& sweeps) {
  ordered_json array = ordered_json::array();
  for (const SweepFacts& s : sweeps)
    array.push_back({{"particles", s.particles},
                     {"conditional", s.conditional},
                     {"ess", finite(s.ess)},
                     {"log_z", finite(s.log_z)},
                     {"reward", finite(s.reward)},
                     {"renewed", s.renewed},
                     {"ancestors", s.ancestors}});
  return array;
}

std::vector<SweepFacts> from_array(const json& array) {
  std::vector<SweepFacts> sweeps;
  for (const json& s : array)
    sweeps.push_back({.particles = s.at("particles"),
                      .conditional = s.at("conditional"),
                      .ess = or_minus_infinity(s.at("ess")),
                      .log_z = or_minus_infinity(s.at("log_z")),
                      .reward = or_minus_infinity(s.at("reward")),
                      .renewed = s.at("renewed"),
                      .ancestors = s.at("ancestors")});
  return sweeps;
}

}  // namespace

Result result_of(const Answer& answer, std::vector<SweepFacts> by_sweep, const LanguageModel& model) {
  const Passage passage = model.read(answer.tokens, answer.prompt);
  return {.text = valid_utf8(passage.text),
          .reply = valid_utf8(passage.reply),
          .status = name_of(answer.status),
          .reward = answer.reward,
          .log_z = answer.log_z,
          .particles = answer.particles,
          .forwards_asked = answer.cost.forwards_asked,
          .forwards_needed = answer.cost.forwards_needed,
          .rewards_asked = answer.cost.rewards_asked,
          .rewards_needed = answer.cost.rewards_needed,
          .by_sweep = std::move(by_sweep)};
}

std::string to_json(const Result& r) {
  return ordered_json{{"text", r.text},
                      {"reply", r.reply},
                      {"status", r.status},
                      {"reward", finite(r.reward)},
                      {"log_z", finite(r.log_z)},
                      {"particles_used", r.particles},
                      {"forwards_asked", r.forwards_asked},
                      {"forwards_needed", r.forwards_needed},
                      {"rewards_asked", r.rewards_asked},
                      {"rewards_needed", r.rewards_needed},
                      {"by_sweep", to_array(r.by_sweep)}}
      .dump();
}

Result result_from_json(const std::string& text) try {
  const json o = json::parse(text);
  return {.text = o.at("text"),
          .reply = o.at("reply"),
          .status = o.at("status"),
          .reward = or_minus_infinity(o.at("reward")),
          .log_z = or_minus_infinity(o.at("log_z")),
          .particles = o.at("particles_used"),
          .forwards_asked = o.at("forwards_asked"),
          .forwards_needed = o.at("forwards_needed"),
          .rewards_asked = o.at("rewards_asked"),
          .rewards_needed = o.at("rewards_needed"),
          .by_sweep = from_array(o.at("by_sweep"))};
} catch (const json::exception& e) {
  throw Error(ErrorCode::invalid_request, std::string("a stored result cannot be read: ") + e.what());
}

}  // namespace pgdlm
