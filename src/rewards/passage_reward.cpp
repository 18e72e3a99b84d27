#include <string>
#include <unordered_map>
#include <utility>

#include "rewards/text_reward.h"

namespace pgdlm {
namespace {

constexpr std::size_t kMostRemembered = 100'000;  // texts; some tens of megabytes

// Canvases that differ behind the end of the text, or in how it is cut into tokens, are one text: it is scored once.
class PassageReward final : public Reward {
 public:
  PassageReward(std::shared_ptr<const LanguageModel> writer, std::unique_ptr<TextReward> reward)
      : writer_(std::move(writer)), reward_(std::move(reward)) {}

  std::vector<double> score(std::span<const Candidate> candidates) override {
    if (known_.size() > kMostRemembered) known_.clear();
    std::vector<std::string> keys;
    std::vector<Passage> fresh;
    std::vector<std::string> fresh_keys;
    for (const Candidate& candidate : candidates) {
      Passage text = writer_->read(candidate.tokens, candidate.prompt);
      keys.push_back(text.prompt + '\0' + text.reply + '\0' + text.text);
      if (!known_.try_emplace(keys.back(), 0).second) continue;
      fresh.push_back(std::move(text));
      fresh_keys.push_back(keys.back());
    }
    score_fresh(fresh, fresh_keys);
    std::vector<double> scores;
    for (const std::string& key : keys) scores.push_back(known_.at(key));
    return scores;
  }
  bool accepts_prefixes() const override { return reward_->accepts_prefixes(); }

 private:
  void score_fresh(std::span<const Passage> texts, std::span<const std::string> keys) {
    try {
      const std::vector<Scored> scores = reward_->score(texts);
      for (std::size_t i = 0; i < keys.size(); ++i) known_[keys[i]] = scores[i].score;
    } catch (...) {
      for (const std::string& key : keys) known_.erase(key);  // promised and not scored
      throw;
    }
  }

  std::shared_ptr<const LanguageModel> writer_;
  std::unique_ptr<TextReward> reward_;
  std::unordered_map<std::string, double> known_;
};

class OwnReward final : public TextReward {
 public:
  OwnReward(std::shared_ptr<const LanguageModel> writer, std::shared_ptr<Reward> own)
      : writer_(std::move(writer)), own_(std::move(own)) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<std::vector<Token>> rows;
    std::vector<Candidate> candidates;
    for (const Passage& text : texts) rows.push_back(writer_->encode(text.text, "text"));
    for (const std::vector<Token>& row : rows) candidates.push_back({.tokens = row});
    std::vector<Scored> scores;
    for (const double score : own_->score(candidates)) scores.push_back({score, {}});
    return scores;
  }

 private:
  std::shared_ptr<const LanguageModel> writer_;
  std::shared_ptr<Reward> own_;
};

}  // namespace

std::unique_ptr<TextReward> make_own_reward(std::shared_ptr<const LanguageModel> writer, std::shared_ptr<Reward> own) {
  return std::make_unique<OwnReward>(std::move(writer), std::move(own));
}

std::shared_ptr<Reward> make_passage_reward(std::shared_ptr<const LanguageModel> writer,
                                            std::unique_ptr<TextReward> reward) {
  return std::make_shared<PassageReward>(std::move(writer), std::move(reward));
}

}  // namespace pgdlm
