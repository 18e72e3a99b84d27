#include "rewards/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kMust = "must:", kRegex = "regex:/";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Term> terms() {
    std::vector<Term> terms;
    double sign = 1;
    do {
      Term term{.weight = sign * this->sign() * weight()};
      term.reward = reward();
      terms.push_back(std::move(term));
    } while (next_sign(sign));
    return terms;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  bool blank(std::size_t at) const { return at >= text_.size() || kBlanks.find(text_[at]) != std::string_view::npos; }
  void skip_blanks() {
    while (!at_end() && blank(at_)) ++at_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward is '{}', {}: expected {}", text_,
                            at_end() ? "which ends too early" : fmt::format("at character {}", at_ + 1), expected),
                "write it as in 0.7*sentiment:positive + 0.3*cola - toxicity, with blanks around + and -");
  }

  // A sign that stands directly before its term.
  double sign() {
    skip_blanks();
    if (at_end() || (text_[at_] != '-' && text_[at_] != '+')) return 1;
    if (blank(at_ + 1)) fail("a reward");
    return text_[at_++] == '-' ? -1 : 1;
  }

  // A number and a star, or nothing.
  double weight() {
    skip_blanks();
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    std::size_t after = at_ + static_cast<std::size_t>(end - begin);
    while (after < text_.size() && blank(after)) ++after;
    if (error != std::errc() || after >= text_.size() || text_[after] != '*') return 1;
    if (!std::isfinite(value) || value == 0) fail("a finite weight that is not 0");
    at_ = after + 1;
    return value;
  }

  std::string reward() {
    skip_blanks();
    const std::size_t begin = at_;
    if (text_.substr(at_).starts_with(kMust)) at_ += kMust.size();
    if (text_.substr(at_).starts_with(kRegex)) skip_regex();
    while (!at_end() && !between_terms()) {
      if (text_[at_] == '"')
        skip_quoted();
      else
        ++at_;
    }
    std::string_view raw = text_.substr(begin, at_ - begin);
    raw = raw.substr(0, raw.find_last_not_of(kBlanks) + 1);
    if (raw.empty()) {
      at_ = begin;
      fail("a reward");
    }
    return unquoted(raw);
  }

  // Quotes around a whole term, or around all that follows its first colon, are ours; others belong to the term.
  static std::string unquoted(std::string_view raw) {
    const std::size_t colon = raw.find(':');
    for (const std::size_t open : {std::size_t{0}, colon == std::string_view::npos ? 0 : colon + 1}) {
      if (raw.size() < open + 2 || raw[open] != '"' || raw.find('"', open + 1) != raw.size() - 1) continue;
      return std::string(raw.substr(0, open)) + std::string(raw.substr(open + 1, raw.size() - open - 2));
    }
    return std::string(raw);
  }

  // " + " or " - ".
  bool between_terms() const {
    if (!blank(at_)) return false;
    std::size_t sign = at_;
    while (sign < text_.size() && blank(sign)) ++sign;
    return sign < text_.size() && (text_[sign] == '+' || text_[sign] == '-') && blank(sign + 1);
  }

  bool next_sign(double& sign) {
    skip_blanks();
    if (at_end()) return false;
    sign = text_[at_++] == '-' ? -1 : 1;
    return true;
  }

  void skip_quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) fail("a closing quote");
    at_ = end + 1;
  }

  // Up to the slash that no backslash precedes.
  void skip_regex() {
    std::size_t end = at_ + kRegex.size();
    while (end < text_.size() && text_[end] != '/') end += text_[end] == '\\' ? 2 : 1;
    at_ = std::min(end + 1, text_.size());
    if (end >= text_.size()) fail("a closing slash");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Term> parse_expression(std::string_view text) { return Parser(text).terms(); }

}  // namespace pgdlm
