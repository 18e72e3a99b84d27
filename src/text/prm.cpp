#include "text/prm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/chat.h"

namespace pgdlm {
namespace {

std::vector<ChatPart> prompt_parts(std::string_view question, std::string_view system) {
  const std::array<Message, 2> messages = {Message{"system", std::string(system)},
                                           Message{"user", std::string(question)}};
  return chat_parts(ChatFormat::chatml, messages, true, "");
}

}  // namespace

std::vector<std::string> split_steps(std::string_view answer, std::string_view separator) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string> steps;
  while (!answer.empty()) {
    const std::size_t end = std::min(answer.find(separator), answer.size());
    std::string_view step = answer.substr(0, end);
    answer.remove_prefix(std::min(end + separator.size(), answer.size()));
    step.remove_prefix(std::min(step.find_first_not_of('\n'), step.size()));
    if (step.find_first_not_of(blanks) == std::string_view::npos) continue;
    step = step.substr(0, step.find_last_not_of('\n') + 1);
    steps.emplace_back(step);
  }
  return steps;
}

std::string prm_prompt(std::string_view question, std::string_view system) {
  std::string page;
  for (const ChatPart& part : prompt_parts(question, system)) page += part.text;
  return page;
}

std::string prm_steps(std::span<const std::string> steps) {
  std::string page;
  for (const std::string& step : steps) page.append(step).append(kPrmStep);
  return page;
}

PrmPage encode_prm(const Tokenizer& tokenizer, Token step, std::string_view question,
                   std::span<const std::string> steps, std::string_view system) {
  PrmPage page;
  // The end of the prompt ("assistant\n") and the first step are one text to the tokeniser.
  std::vector<ChatPart> parts = prompt_parts(question, system);
  const std::string opening = std::move(parts.back().text);
  parts.pop_back();
  page.tokens = encode_parts(tokenizer, parts);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<Token> text = tokenizer.encode(i == 0 ? opening + steps[i] : steps[i]);
    page.tokens.insert(page.tokens.end(), text.begin(), text.end());
    page.marks.push_back(static_cast<Position>(page.tokens.size()));
    page.tokens.push_back(step);
  }
  return page;
}

}  // namespace pgdlm
