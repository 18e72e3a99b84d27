// Rewards that need no model. Of what the model wrote, the prompt left out: 1 if it keeps the rule, 0 if not; a length
// that is off costs 1 for each word. Pure functions behind the interface; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rewards/text_reward.h"

namespace pgdlm {

// A word or several, as whole words; upper and lower case of ASCII letters are the same.
std::unique_ptr<TextReward> make_contains(std::string words);
// A regular expression of PCRE2 that matches somewhere; `ignore_case` as usual. Error{invalid_request} says what is
// wrong with it.
std::unique_ptr<TextReward> make_regex(const std::string& pattern, bool ignore_case);
// Words, separated by white space.
std::unique_ptr<TextReward> make_length(int low, int high);
// The whole reply is one JSON value.
std::unique_ptr<TextReward> make_json();
// The answer to a word problem is this number.
std::unique_ptr<TextReward> make_answer(const std::string& number);
// 0 where a rule gives 1, else -inf: the text is forbidden.
std::unique_ptr<TextReward> make_must(std::unique_ptr<TextReward> rule);

// The number a reply ends with, as GSM8K's graders read it: behind the last ####, else in the last \boxed{}, else the
// last number there is. Without signs of currency and thousands, "-0" and idle zeros, so that equal numbers are equal.
std::optional<std::string> final_number(std::string_view reply);

}  // namespace pgdlm
