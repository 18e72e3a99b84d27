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

 private:
  std::shared_ptr<const LanguageModel> writer_;
  std::unique_ptr<TextReward> reward_;
};

}  // namespace

std::shared_ptr<Reward> make_passage_reward(std::shared_ptr<const LanguageModel> writer,
                                            std::unique_ptr<TextReward> reward) {
  return std::make_shared<PassageReward>(std::move(writer), std::move(reward));
}

}  // namespace pgdlm
