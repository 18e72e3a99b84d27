#include "rewards/exec_reward.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pgdlm/error.h"
#include "rewards/child.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using nlohmann::json;

std::string question(int id, std::span<const Passage> texts) {
  json list = json::array();
  for (const Passage& t : texts)
    list.push_back({{"prompt", valid_utf8(t.prompt)}, {"reply", valid_utf8(t.reply)}, {"text", valid_utf8(t.text)}});
  return json{{"id", id}, {"texts", std::move(list)}}.dump();
}

class ExecReward final : public TextReward {
 public:
  ExecReward(std::string command, const ExecOptions& options) : command_(std::move(command)), options_(options) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    if (texts.empty()) return {};
    return read(ask(question(++asked_, texts)), texts.size());
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    child_.reset();  // who knows what it would say next
    throw Error(
        ErrorCode::invalid_request, fmt::format("reward: exec:{} {}", command_, what),
        R"(for each line {"texts": [{"prompt", "reply", "text"}, ...]} it must print {"scores": [number, ...]})");
  }

  // A child that has ended since it was last asked is started once more.
  std::string ask(const std::string& line) {
    std::string answer;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!child_) child_ = std::make_unique<Child>(command_);
      const Child::Outcome outcome = child_->ask(line, answer, options_.patience);
      if (outcome == Child::Outcome::answered) return answer;
      child_.reset();
      if (outcome == Child::Outcome::late)
        fail(fmt::format("did not answer within {} s", static_cast<double>(options_.patience.count()) / 1000));
      if (outcome == Child::Outcome::talkative) fail("said more than it was asked");
    }
    fail("ended without an answer, twice");
  }

  std::vector<Scored> read(const std::string& line, std::size_t count) {
    const json answer = json::parse(line, nullptr, false);
    const auto scores = answer.is_object() ? answer.find("scores") : answer.end();
    if (answer.is_discarded() || scores == answer.end() || !scores->is_array())
      fail(fmt::format("answered '{}', expected {{\"scores\": [...]}}", line.substr(0, 200)));
    if (const auto id = answer.find("id"); id != answer.end() && *id != asked_)
      fail(fmt::format("answered question {}, expected {}", id->dump(), asked_));
    if (scores->size() != count) fail(fmt::format("gave {} scores for {} texts", scores->size(), count));
    std::vector<Scored> out;
    for (const json& score : *scores) {
      if (!score.is_number() && !score.is_null())
        fail(fmt::format("gave the score {}, expected a number or null", score.dump()));
      out.push_back({score.is_null() ? -std::numeric_limits<double>::infinity() : score.get<double>(), {}});
    }
    return out;
  }

  std::string command_;
  ExecOptions options_;
  std::unique_ptr<Child> child_;
  int asked_ = 0;  // questions so far
};

}  // namespace

std::unique_ptr<TextReward> make_exec_reward(const std::string& command, const ExecOptions& options) {
  if (command.empty())
    throw Error(ErrorCode::invalid_request, "reward: exec: names no command", "write exec:./score.py");
  return std::make_unique<ExecReward>(command, options);
}

}  // namespace pgdlm
