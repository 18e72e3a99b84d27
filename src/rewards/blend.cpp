#include <algorithm>
#include <limits>
#include <utility>

#include "rewards/text_reward.h"

namespace pgdlm {
namespace {

class Blend final : public TextReward {
 public:
  explicit Blend(std::vector<WeightedReward> terms) : terms_(std::move(terms)) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<Scored> sums(texts.size());
    for (const WeightedReward& term : terms_) {
      const std::vector<Scored> found = term.reward->score(texts);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool forbidden = found[i].score == -std::numeric_limits<double>::infinity();  // whatever the sign
        sums[i].score += forbidden ? found[i].score : term.weight * found[i].score;
        sums[i].parts.push_back(found[i].score);
      }
    }
    return sums;
  }
  std::vector<std::string> labels() const override {
    std::vector<std::string> names;
    for (const WeightedReward& term : terms_) names.push_back(term.name);
    return names;
  }
  bool accepts_prefixes() const override {
    return std::ranges::all_of(terms_, [](const WeightedReward& term) { return term.reward->accepts_prefixes(); });
  }

 private:
  std::vector<WeightedReward> terms_;
};

}  // namespace

std::unique_ptr<TextReward> make_blend(std::vector<WeightedReward> terms) {
  return std::make_unique<Blend>(std::move(terms));
}

}  // namespace pgdlm
