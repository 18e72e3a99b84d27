// The page a process reward of the Qwen2.5-Math-PRM kind reads: system, question, and the steps of an answer, each
// followed by a token at which the step is scored. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace pgdlm {

inline constexpr std::string_view kPrmSystem =
    "Please reason step by step, and put your final answer within \\boxed{}.";
inline constexpr std::string_view kPrmStep = "<extra_0>";

// The steps of an answer: it is cut at separators, which belong to no step. Blank steps are none.
inline constexpr std::string_view kPrmSeparator = "\n\n";  // of Qwen2.5-Math-PRM
std::vector<std::string> split_steps(std::string_view answer, std::string_view separator = kPrmSeparator);

// Up to where the first step begins.
std::string prm_prompt(std::string_view question, std::string_view system = kPrmSystem);
// The steps, each with its mark after it. The model is causal, so nothing needs to follow.
std::string prm_steps(std::span<const std::string> steps);

struct PrmPage {
  std::vector<Token> tokens;
  std::vector<Position> marks;  // where the token of each step stands
};

// The two as tokens: only the template's markers and the marks of steps are special, whatever question and steps say.
// `step` is the file's reward.step_token_id.
PrmPage encode_prm(const Tokenizer& tokenizer, Token step, std::string_view question,
                   std::span<const std::string> steps, std::string_view system = kPrmSystem);

}  // namespace pgdlm
