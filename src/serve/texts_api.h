// Texts in, numbers out: rewards and tokenisers as a service. Each function takes the body of a request and returns
// that of the reply; what is wrong is an ApiError or an Error.
#pragma once

#include <string>

#include "serve/models.h"
#include "serve/rewards.h"

namespace pgdlm::serve {

std::string score(const std::string& body, Rewards& rewards, const std::string& default_reward);
std::string rerank(const std::string& body, Rewards& rewards, const std::string& default_reward);
std::string tokenize(const std::string& body, Models& models);
std::string detokenize(const std::string& body, Models& models);

}  // namespace pgdlm::serve
