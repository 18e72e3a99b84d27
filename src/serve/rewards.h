// The rewards that requests have named, kept open: models are loaded once, and equal expressions of different requests
// share what they have scored. Any thread may open; what was opened for a writer belongs to its engine, what was opened
// for texts to whoever scores texts.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "rewards/open_reward.h"

namespace pgdlm::serve {

struct RewardsOptions {
  RewardOptions opening;
  std::string trusted;      // what the operator named may run programs; clients' rewards may not
  bool allow_exec = false;  // unless the operator says so
};

class Rewards {
 public:
  explicit Rewards(RewardsOptions options) : options_(std::move(options)) {}

  // Null for "none". Without a name of the writer it is opened anew and not kept: a process reward remembers what it
  // has read, and a deterministic run must not meet the memories of others. Error{invalid_request} for what makes no
  // sense, ApiError{403} for what clients may not name.
  std::shared_ptr<Reward> open(const std::string& expression, const std::shared_ptr<const LanguageModel>& writer,
                               const std::string& writer_name);
  // The same for texts that nobody here wrote.
  std::shared_ptr<TextReward> open_text(const std::string& expression);

 private:
  struct Kept {
    std::string name;
    std::shared_ptr<TextReward> text;
    std::shared_ptr<Reward> reward;  // of a writer
  };
  void check_allowed(const std::string& expression) const;
  template <class Open>
  Kept keep(const std::string& name, Open&& open);

  RewardsOptions options_;
  std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first
};

}  // namespace pgdlm::serve
