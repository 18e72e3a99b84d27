// What an evaluation asks: a file of JSON lines, each {"prompt": "...", "answer": "..."}; GSM8K's "question" is a
// prompt, too. An answer is optional. The number it ends with is the one that a right reply ends with. Pure but for the
// file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pgdlm {

struct Question {
  std::string prompt;
  std::optional<std::string> answer;  // a number, as final_number gives it (rewards/rules.h)

  bool operator==(const Question&) const = default;
};

// Error{invalid_request} names the file and the line.
std::vector<Question> read_task(const std::filesystem::path& file);
std::vector<Question> parse_task(std::string_view text, const std::string& source);

bool has_answers(std::span<const Question> questions);            // at least one
bool is_right(const Question& question, std::string_view reply);  // requires an answer

}  // namespace pgdlm
