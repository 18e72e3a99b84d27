#include <utility>

#include "rewards/text_reward.h"

namespace pgdlm {
namespace {

class PassageReward final : public Reward {
 public:
  PassageReward(std::shared_ptr<const LanguageModel> writer, std::unique_ptr<TextReward> reward)
      : writer_(std::move(writer)), reward_(std::move(reward)) {}

  std::vector<double> score(std::span<const Candidate> candidates) override {
    std::vector<Passage> texts;
    for (const Candidate& candidate : candidates) texts.push_back(writer_->read(candidate.tokens, candidate.prompt));
    std::vector<double> scores;
    for (const Scored& scored : reward_->score(texts)) scores.push_back(scored.score);
    return scores;
  }
  bool accepts_prefixes() const override { return reward_->accepts_prefixes(); }
  std::optional<std::string> reads(const Candidate& candidate) const override {
    const Passage passage = writer_->read(candidate.tokens, candidate.prompt);
    constexpr char kBetween = '\0';
    return passage.prompt + kBetween + passage.reply + kBetween + passage.text;
  }

 private:
  std::shared_ptr<const LanguageModel> writer_;
  std::unique_ptr<TextReward> reward_;
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
