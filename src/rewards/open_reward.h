// Rewards by name, as `--reward` takes them.
#pragma once

#include <memory>
#include <string>

#include "rewards/text_reward.h"

namespace pgdlm {

// MODEL[:ARGUMENT]. MODEL is a GGUF file, a name on a shelf, or such a name without its "-nano". A classifier's
// argument is a label, a process reward's how its steps become one number: last, min, prod, mean.
// Error{invalid_request} if there is no such reward. Loads the weights: keep one object for all texts.
std::unique_ptr<TextReward> open_text_reward(const std::string& name, const ModelOptions& options = {});

// "none" (null), a reward of the writer's own (the toy's), or one of the above for what it writes.
std::shared_ptr<Reward> open_reward(const std::string& name, std::shared_ptr<const LanguageModel> writer,
                                    const ModelOptions& options = {});

}  // namespace pgdlm
