#include "serve/rewards.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "rewards/expression.h"
#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

constexpr std::size_t kMostKept = 16;

bool is_rule(const std::string& term) {
  const std::string kind = term.substr(0, term.find(':'));
  return kind == "contains" || kind == "regex" || kind == "length" || kind == "json" || kind == "answer" ||
         kind == "must";
}

// A path, or a name that is also one of a file where the server runs.
bool names_a_file(const std::string& term) {
  if (is_rule(term)) return false;
  std::error_code ignored;
  return term.find('/') != std::string::npos || term.find(".gguf") != std::string::npos ||
         std::filesystem::exists(term.substr(0, term.find_first_of(":@")), ignored);
}

}  // namespace

// A client that could name a command, an address or a file would have a shell, a proxy or a look at the disk.
void Rewards::check_allowed(const std::string& expression) const {
  constexpr std::size_t kLongest = 4096;
  if (expression.size() > kLongest)
    throw ApiError(400, fmt::format("reward has {} bytes, allowed: {}", expression.size(), kLongest), "its.reward");
  if (options_.allow_exec || expression == options_.trusted) return;
  const bool files =
      std::ranges::any_of(parse_expression(expression), [](const Term& term) { return names_a_file(term.reward); });
  if (files || reaches_outside(expression))
    throw ApiError(403, "reward names a program, a server or a file, which clients of this server may not",
                   "its.reward", "reward_not_allowed");
}

template <class Open>
Rewards::Kept Rewards::keep(const std::string& name, Open&& open) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, name, &Kept::name);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
  }
  kept_.push_front(open());
  kept_.front().name = name;
  if (kept_.size() > kMostKept) kept_.pop_back();
  return kept_.front();
}

std::shared_ptr<Reward> Rewards::open(const std::string& expression, const std::shared_ptr<const LanguageModel>& writer,
                                      const std::string& writer_name) {
  if (expression == "none") return nullptr;
  check_allowed(expression);
  if (writer_name.empty()) return open_reward(expression, writer, options_.opening);
  return keep(fmt::format("{}\n{}", writer_name, expression),
              [&] { return Kept{.reward = open_reward(expression, writer, options_.opening)}; })
      .reward;
}

std::shared_ptr<TextReward> Rewards::open_text(const std::string& expression) {
  check_allowed(expression);
  return keep("\n" + expression, [&] { return Kept{.text = open_text_reward(expression, options_.opening)}; }).text;
}

}  // namespace pgdlm::serve
