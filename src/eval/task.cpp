#include "eval/task.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pgdlm/error.h"
#include "rewards/rules.h"
#include "text/text_file.h"

namespace pgdlm {
namespace {

using nlohmann::json;

constexpr const char* kForm =
    R"(a line is {"prompt": "...", "answer": "42"}, or GSM8K's {"question": ..., "answer": ...})";

Question parse_line(std::string_view line, const std::string& where) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) throw Error(ErrorCode::invalid_request, where + ": expected a JSON object", kForm);
  Question question;
  const auto prompt = object.contains("prompt") ? object.find("prompt") : object.find("question");
  if (prompt == object.end() || !prompt->is_string())
    throw Error(ErrorCode::invalid_request, where + ": expected the text 'prompt' or 'question'", kForm);
  question.prompt = prompt->get<std::string>();
  const auto answer = object.find("answer");
  if (answer == object.end() || answer->is_null()) return question;
  if (!answer->is_string() && !answer->is_number())
    throw Error(ErrorCode::invalid_request,
                fmt::format("{}: answer is {}, expected a text or a number", where, answer->dump()), kForm);
  question.answer = final_number(answer->is_string()         ? answer->get<std::string>()
                                 : answer->is_number_float() ? fmt::format("{:f}", answer->get<double>())
                                                             : answer->dump());
  if (!question.answer)
    throw Error(ErrorCode::invalid_request,
                fmt::format("{}: there is no number in the answer {}", where, answer->dump()),
                "answers are compared by the number they end with");
  return question;
}

}  // namespace

std::vector<Question> parse_task(std::string_view text, const std::string& source) {
  std::vector<Question> questions;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    questions.push_back(parse_line(line, fmt::format("{}: line {}", source, number)));
  }
  if (questions.empty()) throw Error(ErrorCode::invalid_request, source + ": there is no question in it", kForm);
  return questions;
}

std::vector<Question> read_task(const std::filesystem::path& file) {
  return parse_task(read_text_file(file, "task: file"), file.string());
}

bool has_answers(std::span<const Question> questions) {
  return std::ranges::any_of(questions, [](const Question& q) { return q.answer.has_value(); });
}

bool is_right(const Question& question, std::string_view reply) { return final_number(reply) == question.answer; }

}  // namespace pgdlm
