// Words of a reward expression that choose among a few things. Error{invalid_request} lists them.
#pragma once

#include <string>

#include "rewards/text_reward.h"

namespace pgdlm {

Scale parse_scale(const std::string& word);
Aggregation parse_aggregation(const std::string& word);

}  // namespace pgdlm
