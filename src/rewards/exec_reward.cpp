#include "rewards/exec_reward.h"

#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"
#include "rewards/child.h"
#include "rewards/wire.h"

namespace pgdlm {
namespace {

using nlohmann::json;

class ExecReward final : public TextReward {
 public:
  ExecReward(std::string command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    if (texts.empty()) return {};
    const json question = {{"id", ++asked_}, {"texts", texts_to_json(texts)}};
    return read(ask(question.dump()), texts.size());
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
      const Child::Outcome outcome = child_->ask(line, answer, patience_);
      if (outcome == Child::Outcome::answered) return answer;
      child_.reset();
      if (outcome == Child::Outcome::late)
        fail(fmt::format("did not answer within {} s", static_cast<double>(patience_.count()) / 1000));
      if (outcome == Child::Outcome::talkative) fail("said more than it was asked");
    }
    fail("ended without an answer, twice");
  }

  std::vector<Scored> read(const std::string& line, std::size_t count) {
    try {
      const json answer = parse_answer(line);
      if (answer.is_object() && answer.contains("id") && answer["id"] != asked_)
        throw WrongAnswer{fmt::format("answered question {}, expected {}", beginning(answer["id"].dump()), asked_)};
      return read_scores(answer, count);
    } catch (const WrongAnswer& wrong) {
      fail(wrong.what);
    }
  }

  std::string command_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<Child> child_;
  int asked_ = 0;  // questions so far
};

}  // namespace

std::unique_ptr<TextReward> make_exec_reward(const std::string& command, std::chrono::milliseconds patience) {
  if (command.empty())
    throw Error(ErrorCode::invalid_request, "reward: exec: names no command", "write exec:./score.py");
  return std::make_unique<ExecReward>(command, patience);
}

}  // namespace pgdlm
