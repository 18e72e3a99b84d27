// Rewards by their expressions, as `--reward` takes them (expression.h). A term is
//
//   MODEL[:LABEL][@SCALE]   a classifier: log p(label), or p or its logit as SCALE says
//   MODEL[:JOIN][@SCALE]    a process reward: p after the last step, the steps' min, prod or mean, or model; without
//                           JOIN as its file says
//   contains:WORDS  regex:/PATTERN/[i]  json  answer:NUMBER      1 if the reply keeps the rule, else 0
//   length:A..B             0, less 1 for each word the reply is off
//   must:TERM               of a rule: a text that breaks it is forbidden
//   exec:COMMAND            a program that scores (exec_reward.h)
//   http://HOST/PATH        a server that scores (http_reward.h)
//
// MODEL is a GGUF file, a name on a shelf, or such a name without its "-nano".
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rewards/text_reward.h"

namespace pgdlm {

struct RewardOptions {
  ModelOptions models;
  double patience = 60;  // seconds, for one answer of a program or server
};

// Error{invalid_request} says what there is no such thing of. Loads weights: keep one object for all texts. A writer
// adds the rewards of its own (the toy's).
std::unique_ptr<TextReward> open_text_reward(const std::string& expression, const RewardOptions& options = {},
                                             const std::shared_ptr<const LanguageModel>& writer = nullptr);

// Whether an expression runs a program or asks a server.
bool reaches_outside(const std::string& expression);
// The model files that an expression names.
std::vector<std::filesystem::path> reward_files(const std::string& expression);

// The same for what `writer` writes; null for "none".
std::shared_ptr<Reward> open_reward(const std::string& expression, const std::shared_ptr<const LanguageModel>& writer,
                                    const RewardOptions& options = {});

}  // namespace pgdlm
