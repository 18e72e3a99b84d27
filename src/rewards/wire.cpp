#include "rewards/wire.h"

#include <limits>

#include <fmt/format.h>

#include "text/utf8.h"

namespace pgdlm {

using nlohmann::json;

json texts_to_json(std::span<const Passage> texts) {
  json list = json::array();
  for (const Passage& t : texts)
    list.push_back({{"prompt", valid_utf8(t.prompt)}, {"reply", valid_utf8(t.reply)}, {"text", valid_utf8(t.text)}});
  return list;
}

std::string beginning(const std::string& text) {
  constexpr std::size_t kShown = 200;
  return valid_utf8(text.substr(0, kShown));
}

json parse_answer(const std::string& text) {
  constexpr int kDeepest = 16;  // printing and copying go down with it
  const auto shallow = [](int depth, json::parse_event_t, const json&) { return depth <= kDeepest; };
  json answer = json::parse(text, shallow, false);
  if (answer.is_discarded()) throw WrongAnswer{fmt::format("answered '{}', expected JSON", beginning(text))};
  return answer;
}

std::vector<Scored> read_scores(const json& answer, std::size_t count) {
  const auto scores = answer.is_object() ? answer.find("scores") : answer.end();
  if (scores == answer.end() || !scores->is_array())
    throw WrongAnswer{fmt::format("answered '{}', expected {{\"scores\": [...]}}", beginning(answer.dump()))};
  if (scores->size() != count) throw WrongAnswer{fmt::format("gave {} scores for {} texts", scores->size(), count)};
  std::vector<Scored> out;
  for (const json& score : *scores) {
    if (!score.is_number() && !score.is_null())
      throw WrongAnswer{fmt::format("gave the score {}, expected a number or null", beginning(score.dump()))};
    out.push_back({score.is_null() ? -std::numeric_limits<double>::infinity() : score.get<double>(), {}});
  }
  return out;
}

}  // namespace pgdlm
