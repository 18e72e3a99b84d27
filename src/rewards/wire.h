// How texts are shown to programs and servers that score, and how their scores are read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rewards/text_reward.h"

namespace pgdlm {

// [{"prompt": "...", "reply": "...", "text": "..."}, ...]
nlohmann::json texts_to_json(std::span<const Passage> texts);

// What was wrong with an answer, in words that follow its sender's name.
struct WrongAnswer {
  std::string what;
};

// An answer as JSON, or WrongAnswer. What is nested too deeply is left out: nobody we know answers so.
nlohmann::json parse_answer(const std::string& text);
std::string beginning(const std::string& text);  // fit to be quoted

// {"scores": [0.5, null, ...]}: as many as there were texts, null for one that is forbidden; or WrongAnswer.
std::vector<Scored> read_scores(const nlohmann::json& answer, std::size_t count);

}  // namespace pgdlm
