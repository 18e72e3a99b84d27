// How texts are shown to programs and servers that score, and how their scores are read.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rewards/text_reward.h"

namespace pgdlm {

// [{"prompt": "...", "reply": "...", "text": "..."}, ...]
nlohmann::json texts_to_json(std::span<const Passage> texts);

// {"scores": [0.5, null, ...]}: as many as there were texts, null for one that is forbidden. What is wrong with it goes
// to `fail`, which throws.
using Fail = std::function<void(const std::string& what)>;
std::vector<Scored> read_scores(const nlohmann::json& answer, std::size_t count, const Fail& fail);

}  // namespace pgdlm
