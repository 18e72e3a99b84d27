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

std::vector<Scored> read_scores(const json& answer, std::size_t count, const Fail& fail) {
  const auto scores = answer.is_object() ? answer.find("scores") : answer.end();
  if (scores == answer.end() || !scores->is_array())
    fail(fmt::format("answered '{}', expected {{\"scores\": [...]}}", answer.dump().substr(0, 200)));
  if (scores->size() != count) fail(fmt::format("gave {} scores for {} texts", scores->size(), count));
  std::vector<Scored> out;
  for (const json& score : *scores) {
    if (!score.is_number() && !score.is_null())
      fail(fmt::format("gave the score {}, expected a number or null", score.dump()));
    out.push_back({score.is_null() ? -std::numeric_limits<double>::infinity() : score.get<double>(), {}});
  }
  return out;
}

}  // namespace pgdlm
