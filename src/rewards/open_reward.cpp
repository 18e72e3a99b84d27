#include "rewards/open_reward.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalog/shelf.h"
#include "pgdlm/error.h"
#include "rewards/exec_reward.h"
#include "rewards/expression.h"
#include "rewards/http_reward.h"
#include "rewards/names.h"
#include "rewards/rules.h"

namespace pgdlm {
namespace {

constexpr const char* kSize = "-nano";  // of the default models; a reward may be named without it

// "20..40"
std::unique_ptr<TextReward> parse_length(const std::string& text) {
  int low = 0, high = -1;
  const std::size_t dots = text.find("..");
  const auto whole = [&](std::string_view part, int& number) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    return error == std::errc() && end == part.data() + part.size() && number >= 0;
  };
  const bool sound = dots != std::string::npos && whole(std::string_view(text).substr(0, dots), low) &&
                     whole(std::string_view(text).substr(dots + 2), high) && low <= high;
  if (!sound)
    throw Error(ErrorCode::invalid_request, fmt::format("reward: 'length:{}' is not a range of words", text),
                "write length:A..B with 0 <= A <= B, such as length:8..12");
  return make_length(low, high);
}

// "/PATTERN/" or "/PATTERN/i"; the parser of expressions has seen to the slashes.
std::unique_ptr<TextReward> parse_regex(const std::string& text) {
  const std::size_t end = text.rfind('/');
  const std::string flags = end == std::string::npos ? "" : text.substr(end + 1);
  if (text.size() < 2 || text[0] != '/' || end == 0 || (!flags.empty() && flags != "i"))
    throw Error(ErrorCode::invalid_request, fmt::format("reward: 'regex:{}' is not regex:/PATTERN/", text),
                "put the pattern between slashes; an i behind them ignores case");
  return make_regex(text.substr(1, end - 1), flags == "i");
}

std::unique_ptr<TextReward> open_rule(const std::string& kind, const std::string& argument) {
  if (kind == "contains") return make_contains(argument);
  if (kind == "regex") return parse_regex(argument);
  if (kind == "length") return parse_length(argument);
  if (kind == "answer") return make_answer(argument);
  if (kind == "json" && argument.empty()) return make_json();
  return nullptr;
}

// What stands before the first colon, and what behind it.
std::pair<std::string, std::string> cut(const std::string& text) {
  const std::size_t colon = text.find(':');
  return {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

// What `pgdlm models` calls them: a reward named "prm" is the file prm-nano.
std::optional<std::filesystem::path> find_reward_model(const std::string& name) {
  const auto found = seek_model(name);
  return found ? found : seek_model(name + kSize);
}

// NAME[:ARGUMENT][@SCALE]; a path may have colons and at signs of its own.
struct ModelTerm {
  std::string name, argument;
  std::optional<std::string> scale;
};
ModelTerm cut_model(const std::string& term) {
  const std::size_t at = term.find('/') == std::string::npos ? term.rfind('@') : term.find('@', term.rfind('/'));
  const std::string name = term.substr(0, at);
  const std::size_t colon = name.ends_with(".gguf") ? std::string::npos : name.rfind(':');
  return {.name = name.substr(0, colon),
          .argument = colon == std::string::npos ? "" : name.substr(colon + 1),
          .scale = at == std::string::npos ? std::nullopt : std::optional(term.substr(at + 1))};
}

// Opens the terms of one expression; terms that name the same file share it.
class Opener {
 public:
  Opener(const RewardOptions& options, const std::shared_ptr<const LanguageModel>& writer)
      : options_(options), writer_(writer) {}

  std::unique_ptr<TextReward> open(const std::string& term) {
    if (writer_)
      if (std::shared_ptr<Reward> own = writer_->own_reward(term)) return make_own_reward(writer_, std::move(own));
    const auto [kind, argument] = cut(term);
    if (kind == "must") return open_must(argument);
    if (kind == "exec") return make_exec_reward(argument, patience());
    if (kind == "http" || kind == "https") return make_http_reward(term, patience());
    if (auto rule = open_rule(kind, argument)) return rule;
    return open_model(term);
  }

 private:
  std::chrono::milliseconds patience() const {
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(options_.patience));
  }

  std::unique_ptr<TextReward> open_must(const std::string& term) {
    const auto [kind, argument] = cut(term);
    auto rule = kind == "length" ? nullptr : open_rule(kind, argument);
    if (!rule)
      throw Error(ErrorCode::invalid_request, fmt::format("reward: must:{} is not a rule", term),
                  "rules are contains:WORDS, regex:/PATTERN/, json and answer:NUMBER");
    return make_must(std::move(rule));
  }

  std::unique_ptr<TextReward> open_model(const std::string& term) {
    const auto [name, argument, wanted] = cut_model(term);
    const auto path = find_reward_model(name);
    if (!path) throw unknown(term);
    const std::optional<Scale> scale = wanted ? std::optional(parse_scale(*wanted)) : std::nullopt;
    const std::shared_ptr<Model> model = load(*path);
    if (model->role() == Role::classifier) return make_classifier_reward(model, argument, scale.value_or(Scale::log));
    if (model->role() == Role::process_reward)
      return make_process_reward(model, parse_aggregation(argument.empty() ? model->step_join() : argument),
                                 scale.value_or(Scale::p));
    throw Error(ErrorCode::invalid_request, fmt::format("reward: {} is a {}, expected a classifier or a process reward",
                                                        model->file()->path(), role_name(model->role())));
  }

  // "sentiment:negative|positive", "prm": those on shelves.
  static std::vector<std::string> named_rewards() {
    std::vector<std::string> names;
    for (const std::filesystem::path& path : models_on_shelves()) try {
        std::string name = path.stem().string();
        if (name.ends_with(kSize)) name.resize(name.size() - std::string_view(kSize).size());
        const std::shared_ptr<Model> model = Model::load(path);
        if (model->role() == Role::classifier)
          names.push_back(fmt::format("{}:{}", name, fmt::join(model->labels(), "|")));
        if (model->role() == Role::process_reward) names.push_back(name);
      } catch (const Error&) {  // a file that is not sound has no name here
        continue;
      }
    return names;
  }

  std::shared_ptr<Model> load(const std::filesystem::path& path) {
    std::shared_ptr<Model>& model = models_[path];
    if (!model) model = Model::load(path, options_.models);
    return model;
  }

  Error unknown(const std::string& term) const {
    std::vector<std::string> known;
    if (writer_) known = writer_->own_rewards();
    if (writer_) known.insert(known.begin(), "none");
    const std::vector<std::string> named = named_rewards();
    known.insert(known.end(), named.begin(), named.end());
    known.insert(known.end(), {"MODEL:LABEL", "contains:WORDS", "regex:/PATTERN/", "length:A..B", "json",
                               "answer:NUMBER", "must:RULE", "exec:COMMAND", "http://HOST/PATH"});
    return Error(ErrorCode::invalid_request, fmt::format("reward is '{}', allowed: {}", term, fmt::join(known, ", ")),
                 "MODEL is a classifier or a process reward: a GGUF file, or a name that `pgdlm models` lists");
  }

  const RewardOptions& options_;
  const std::shared_ptr<const LanguageModel>& writer_;
  std::map<std::filesystem::path, std::shared_ptr<Model>> models_;
};

}  // namespace

std::unique_ptr<TextReward> open_text_reward(const std::string& expression, const RewardOptions& options,
                                             const std::shared_ptr<const LanguageModel>& writer) {
  Opener opener(options, writer);
  std::vector<WeightedReward> terms;
  for (const Term& term : parse_expression(expression)) {
    if (term.reward.starts_with("must:") && term.weight < 0)
      throw Error(ErrorCode::invalid_request, fmt::format("reward: -{} would forbid what keeps the rule", term.reward),
                  "a forbidden pattern is must:regex:/^(?!.*PATTERN)/");
    if (term.reward == "none")
      throw Error(ErrorCode::invalid_request, fmt::format("reward is '{}', but none stands alone", expression),
                  "leave it out");
    terms.push_back({term.weight, term.reward, opener.open(term.reward)});
  }
  if (terms.size() == 1 && terms[0].weight == 1) return std::move(terms[0].reward);
  return make_blend(std::move(terms));
}

bool reaches_outside(const std::string& expression) {
  return std::ranges::any_of(parse_expression(expression), [](const Term& term) {
    const std::string kind = cut(term.reward).first;
    return kind == "exec" || kind == "http" || kind == "https";
  });
}

std::vector<std::filesystem::path> reward_files(const std::string& expression) {
  std::vector<std::filesystem::path> files;
  if (expression == "none") return files;
  for (const Term& term : parse_expression(expression)) {
    std::error_code ignored;
    const auto path = find_reward_model(cut_model(term.reward).name);
    if (path && std::filesystem::is_regular_file(*path, ignored)) files.push_back(*path);
  }
  return files;
}

std::shared_ptr<Reward> open_reward(const std::string& expression, const std::shared_ptr<const LanguageModel>& writer,
                                    const RewardOptions& options) {
  if (expression == "none") return nullptr;
  if (std::shared_ptr<Reward> own = writer->own_reward(expression)) return own;  // it need not read text
  return make_passage_reward(writer, open_text_reward(expression, options, writer));
}

}  // namespace pgdlm
