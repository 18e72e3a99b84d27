// A program of the user's as a reward. It is started once with /bin/sh -c and reads one JSON object per line,
//
//   {"id": 7, "texts": [{"prompt": "...", "reply": "...", "text": "..."}, ...]}
//
// and answers each with a line {"scores": [0.5, ...]}: as many, in order, finite or null for a text it forbids. If it
// repeats the id, a line too many is always noticed. A program that dies is started again, once per question; one that
// takes too long is stopped. What it writes to standard error goes to ours.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "rewards/text_reward.h"

namespace pgdlm {

// Error{invalid_request} when it fails: it names the command, what was expected and what came.
std::unique_ptr<TextReward> make_exec_reward(const std::string& command,
                                             std::chrono::milliseconds patience = std::chrono::minutes(1));

}  // namespace pgdlm
