// A server as a reward. The end of its path says what it speaks:
//
//   /predict    text-embeddings-inference: a classifier; #LABEL chooses
//   /classify   vLLM, also as /v1/classify: a classifier; #LABEL or the class's number chooses, the last without
//   /pooling    vLLM: the last number of a reward model; with #last, #min, #prod, #mean or #model a process reward
//   other       {"texts": [{"prompt", "reply", "text"}, ...]} -> {"scores": [...]}, as exec_reward.h has it
//
// A label may be followed by @p, @log or @logit. $PGDLM_REWARD_API_KEY is sent as a bearer token.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "rewards/text_reward.h"

namespace pgdlm {

// Error{invalid_request} when it fails: it names the URL, what was expected and what came.
std::unique_ptr<TextReward> make_http_reward(const std::string& url, std::chrono::milliseconds patience);

}  // namespace pgdlm
