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

// Signs of currency and LaTeX's commas stand between a number and its sign, or inside it.
std::string without_ornaments(std::string_view text) {
  std::string plain_text(text);
  for (const auto& [ornament, instead] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"{,}", ","}, {"\\$", ""}, {"$", ""}, {"\u20ac", ""}, {"\u00a3", ""}, {"\u2212", "-"}})
    for (std::size_t at; (at = plain_text.find(ornament)) != std::string::npos;)
      plain_text.replace(at, ornament.size(), instead);
  return plain_text;
}

// A number, from the first of its characters on: digits with commas and a point between them or before, and a sign.
struct Found {
  std::size_t begin = 0, end = 0;
};
std::optional<Found> next_number(std::string_view text, std::size_t from) {
  std::size_t begin = from;
  while (begin < text.size() && !is_digit(text[begin])) ++begin;
  if (begin == text.size()) return std::nullopt;
  std::size_t end = begin;
  const auto joins = [&](std::size_t at) {
    return (text[at] == ',' || text[at] == '.') && at + 1 < text.size() && is_digit(text[at + 1]);
  };
  while (end < text.size() && (is_digit(text[end]) || joins(end))) ++end;
  if (begin > from && text[begin - 1] == '.') --begin;
  const bool sign = begin > from && text[begin - 1] == '-' && (begin == from + 1 || !in_word(text[begin - 2]));
  return Found{begin - (sign ? 1 : 0), end};
}

std::optional<std::string> first_number(std::string_view text) {
  const auto found = next_number(text, 0);
  return found ? std::optional(std::string(text.substr(found->begin, found->end - found->begin))) : std::nullopt;
}

std::optional<std::string> last_number(std::string_view text) {
  std::optional<std::string> last;
  for (auto found = next_number(text, 0); found; found = next_number(text, found->end))
    last = text.substr(found->begin, found->end - found->begin);
  return last;
}

// What a mark holds: the rest of its line, or what is between its braces.
std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find(mark.ends_with('{') ? '}' : '\n'));
}

}  // namespace

std::optional<std::string> final_number(std::string_view reply) {
  const std::string text = without_ornaments(reply);
  std::optional<std::string> found = first_number(behind(text, "####"));
  if (!found) found = first_number(behind(text, "\\boxed{"));
  if (!found) found = last_number(text);
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
  const std::optional<std::string> wanted = first_number(number);
  if (!wanted || *wanted != number)
    throw Error(ErrorCode::invalid_request, fmt::format("reward: answer:{} is not a number", number),
                "write answer:42, answer:-3 or answer:1.5");
  return rule([wanted = plain(*wanted)](const std::string& text) { return final_number(text) == wanted ? 1 : 0; });
}

std::unique_ptr<TextReward> make_must(std::unique_ptr<TextReward> rule) {
  return std::make_unique<Must>(std::move(rule));
}

}  // namespace pgdlm
