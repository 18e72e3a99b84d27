#include "eval/judge.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "pgdlm/error.h"
#include "text/text_file.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using nlohmann::json;

// The one pattern there is; split_words matches it by hand.
constexpr std::string_view kPattern = "[a-z0-9]+(?:'[a-z]+)?|[*#@$&]+|[.,!?;:]";
constexpr int kLongestNgram = 16;

// A judge's file, whose fields are asked for by type.
class Fields {
 public:
  Fields(const json& object, const std::string& source) : object_(object), source_(source) {}

  const json& get(const std::string& name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) fail(name + " is missing");
    return *found;
  }
  const json& object(const std::string& name) const {
    const json& value = get(name);
    if (!value.is_object()) wrong(name, "an object", value);
    return value;
  }
  double number(const std::string& name) const { return number(name, get(name)); }
  double number(const std::string& name, const json& value) const {
    if (!value.is_number()) wrong(name, "a number", value);
    return value.get<double>();
  }
  std::vector<std::string> strings(const std::string& name) const {
    const json& list = get(name);
    if (!list.is_array()) wrong(name, "a list of strings", list);
    std::vector<std::string> all;
    for (const json& item : list) {
      if (!item.is_string()) wrong(name + "[" + std::to_string(all.size()) + "]", "a string", item);
      all.push_back(item.get<std::string>());
    }
    return all;
  }
  // Another value would mean another model.
  void expect(const std::string& name, const json& value) const {
    if (get(name) != value) wrong(name, value.dump(), get(name));
  }

  [[noreturn]] void wrong(const std::string& name, const std::string& expected, const json& got) const {
    std::string shown = got.is_structured() ? std::string("an ") + got.type_name() : got.dump();
    if (shown.size() > 200) shown = "a string of " + std::to_string(shown.size() - 2) + " bytes";
    fail(name + ": expected " + expected + ", got " + shown);
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::bad_model, source_ + ": " + message, "a judge is written by recipes/train_judges.py");
  }

 private:
  const json& object_;
  const std::string& source_;
};

std::vector<int> read_ngrams(const Fields& fields) {
  const json& list = fields.get("ngrams");
  const std::string expected = "a list of different integers from 1 to " + std::to_string(kLongestNgram);
  if (!list.is_array() || list.empty()) fields.wrong("ngrams", expected, list);
  std::vector<int> all;
  for (const json& item : list) {
    const double n = item.is_number_integer() ? item.get<double>() : 0;  // which an integer beyond int survives
    if (n < 1 || n > kLongestNgram || std::ranges::find(all, static_cast<int>(n)) != all.end())
      fields.wrong("ngrams[" + std::to_string(all.size()) + "]", expected, item);
    all.push_back(static_cast<int>(n));
  }
  return all;
}

// As Python's str.lower does, but for the final sigma, which is in no word. Of characters beyond ASCII two become
// letters of words: the Kelvin sign a k, the I with a dot an i (and a dot beside it). The others are all the same here.
std::string lower_ascii(std::string_view text) {
  std::u32string lower;
  while (!text.empty()) {
    const Utf8Step step = read_utf8(text);
    append_lower(step.code, lower);
    text.remove_prefix(step.length);
  }
  std::string ascii;
  for (const char32_t code : lower) ascii += code < 0x80 ? static_cast<char>(code) : '\x80';
  return ascii;
}

bool letter(char c) { return c >= 'a' && c <= 'z'; }
bool letter_or_digit(char c) { return letter(c) || (c >= '0' && c <= '9'); }
bool sign(char c) { return std::string_view("*#@$&").find(c) != std::string_view::npos; }
bool stop(char c) { return std::string_view(".,!?;:").find(c) != std::string_view::npos; }

// All matches of kPattern, from left to right.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  const auto run_from = [&](std::size_t at, bool (*in)(char)) {
    while (at < text.size() && in(text[at])) ++at;
    return at;
  };
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    if (letter_or_digit(text[at])) {
      end = run_from(at, letter_or_digit);
      const bool apostrophe = end + 1 < text.size() && text[end] == '\'' && letter(text[end + 1]);
      if (apostrophe) end = run_from(end + 1, letter);
    } else if (sign(text[at])) {
      end = run_from(at, sign);
    } else if (!stop(text[at])) {
      continue;
    }
    words.emplace_back(text.substr(at, end - at));
  }
  return words;
}

json parse_json(std::string_view text, const std::string& source) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::bad_model, source + ": not valid JSON: " + error.what());
  }
}

}  // namespace

Judge Judge::load(const std::filesystem::path& path) { return parse(read_text_file(path, "judge"), path.string()); }

Judge Judge::parse(std::string_view text, const std::string& source) {
  const json object = parse_json(text, source);
  const Fields fields(object, source);
  if (!object.is_object()) fields.fail(std::string("expected a JSON object, got ") + object.type_name());
  fields.expect("kind", "logistic-ngrams");
  fields.expect("lowercase", true);
  fields.expect("word", kPattern);

  Judge judge;
  const std::vector<std::string> labels = fields.strings("labels");
  if (labels.size() != 2) fields.fail("labels: expected two, got " + std::to_string(labels.size()));
  std::ranges::copy(labels, judge.labels_.begin());
  for (std::string& word : fields.strings("frequent_words")) judge.frequent_.insert(std::move(word));
  judge.bias_ = fields.number("bias");
  judge.power_ = fields.number("power");
  if (judge.power_ < 0 || judge.power_ > 1) fields.wrong("power", "a number from 0 to 1", fields.get("power"));
  const Fields unknown(fields.object("unknown"), source);
  for (const int n : read_ngrams(fields)) judge.unknown_[n] = unknown.number(std::to_string(n));
  const json& weights = fields.object("weights");
  if (weights.empty()) fields.fail("weights: expected at least one n-gram, got none");
  judge.weights_.reserve(weights.size());
  for (const auto& [ngram, weight] : weights.items())
    judge.weights_.emplace(ngram, fields.number("weights[" + ngram + "]", weight));
  return judge;
}

std::vector<std::string> Judge::words_of(std::string_view text) const {
  std::vector<std::string> words = split_words(lower_ascii(text));
  for (std::string& word : words)
    if (!frequent_.empty() && !frequent_.contains(word))
      word = "~" + word.substr(word.size() - std::min<std::size_t>(2, word.size()));
  words.insert(words.begin(), "<s>");
  words.emplace_back("</s>");
  return words;
}

double Judge::log_odds(std::string_view text) const {
  const std::vector<std::string> words = words_of(text);
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [n, unknown] : unknown_) {
    for (std::size_t first = 0; first + n <= words.size(); ++first, ++count) {
      std::string ngram = words[first];
      for (std::size_t i = first + 1; i < first + n; ++i) ngram += " " + words[i];
      const auto known = weights_.find(ngram);
      sum += known == weights_.end() ? unknown : known->second;
    }
  }
  return count == 0 ? bias_ : bias_ + sum / std::pow(static_cast<double>(count), power_);
}

}  // namespace pgdlm
