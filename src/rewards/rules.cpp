#include "rewards/rules.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pgdlm/error.h"
#include "rewards/pattern.h"

namespace pgdlm {
namespace {

class Rule final : public TextReward {
 public:
  explicit Rule(std::function<double(const std::string&)> of) : of_(std::move(of)) {}
  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<Scored> scores;
    for (const Passage& text : texts) scores.push_back({of_(text.reply), {}});
    return scores;
  }

 private:
  std::function<double(const std::string&)> of_;
};

std::unique_ptr<TextReward> rule(std::function<double(const std::string&)> of) {
  return std::make_unique<Rule>(std::move(of));
}

class Must final : public TextReward {
 public:
  explicit Must(std::unique_ptr<TextReward> rule) : rule_(std::move(rule)) {}
  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<Scored> scores = rule_->score(texts);
    for (Scored& scored : scores) scored.score = scored.score == 1 ? 0 : -std::numeric_limits<double>::infinity();
    return scores;
  }

 private:
  std::unique_ptr<TextReward> rule_;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Bytes of UTF-8 beyond ASCII belong to words.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

bool has_words(const std::string& text, const std::string& words) {
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !in_word(text[at - 1]) || !in_word(words.front());
    const bool ends = end == text.size() || !in_word(text[end]) || !in_word(words.back());
    if (begins && ends) return true;
  }
  return false;
}

int word_count(std::string_view text) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    words += !blank && !inside ? 1 : 0;
    inside = !blank;
  }
  return words;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "-1,200.50" as "-1200.5".
std::string plain(std::string number) {
  std::erase(number, ',');
  const bool negative = number.front() == '-';
  if (negative) number.erase(0, 1);
  if (number.find('.') != std::string::npos) number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
  if (number.empty() || number.front() == '.') number.insert(0, "0");
  return negative && number != "0" ? "-" + number : number;
}

// The last number of a text: digits with commas between them, perhaps a fraction and a sign.
std::optional<std::string> last_number(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  if (end == 0) return std::nullopt;
  std::size_t begin = end;
  const auto joins = [&](std::size_t at) {  // a comma or a point between two digits
    return (text[at] == ',' || text[at] == '.') && at > 0 && is_digit(text[at - 1]);
  };
  while (begin > 0 && (is_digit(text[begin - 1]) || joins(begin - 1))) --begin;
  const bool sign = begin > 0 && text[begin - 1] == '-' && (begin == 1 || !in_word(text[begin - 2]));
  return std::string(text.substr(begin - (sign ? 1 : 0), end - begin + (sign ? 1 : 0)));
}

// The first number behind a mark.
std::optional<std::string> first_number(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::size_t end = 0;
  while (end < line && !is_digit(text[end])) ++end;
  while (end < line &&
         (is_digit(text[end]) || ((text[end] == ',' || text[end] == '.') && end + 1 < line && is_digit(text[end + 1]))))
    ++end;
  return last_number(text.substr(0, end));
}

}  // namespace

std::optional<std::string> final_number(std::string_view reply) {
  std::optional<std::string> found;
  for (const std::string_view mark : {"####", "\\boxed{"}) {
    const std::size_t at = reply.rfind(mark);
    if (!found && at != std::string_view::npos) found = first_number(reply.substr(at + mark.size()));
  }
  if (!found) found = last_number(reply);
  return found ? std::optional(plain(*found)) : std::nullopt;
}

std::unique_ptr<TextReward> make_contains(std::string words) {
  if (words.empty()) throw Error(ErrorCode::invalid_request, "reward: contains: names no word", "write contains:word");
  return rule(
      [words = lower(std::move(words))](const std::string& text) { return has_words(lower(text), words) ? 1 : 0; });
}

std::unique_ptr<TextReward> make_regex(const std::string& pattern, bool ignore_case) {
  return rule([compiled = std::make_shared<Pattern>(pattern, ignore_case)](const std::string& text) {
    return compiled->found_in(text) ? 1 : 0;
  });
}

std::unique_ptr<TextReward> make_length(int low, int high) {
  return rule([low, high](const std::string& text) {
    const int words = word_count(text);
    return words < low ? words - low : words > high ? high - words : 0;
  });
}

std::unique_ptr<TextReward> make_json() {
  return rule([](const std::string& text) { return nlohmann::json::accept(text) ? 1 : 0; });
}

std::unique_ptr<TextReward> make_answer(const std::string& number) {
  const std::optional<std::string> wanted = last_number(number);
  if (!wanted || *wanted != number)
    throw Error(ErrorCode::invalid_request, fmt::format("reward: answer:{} is not a number", number),
                "write answer:42, answer:-3 or answer:1.5");
  return rule([wanted = plain(*wanted)](const std::string& text) { return final_number(text) == wanted ? 1 : 0; });
}

std::unique_ptr<TextReward> make_must(std::unique_ptr<TextReward> rule) {
  return std::make_unique<Must>(std::move(rule));
}

}  // namespace pgdlm
