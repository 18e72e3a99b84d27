// Rewards of the toy model. Each reads the text up to the first </s>, prompt included.
#include <cmath>
#include <utility>

#include "models/toy_chain.h"
#include "models/toy_words.h"

namespace pgdlm {
namespace {

// log p(positive) or log p(negative) of a logistic reader of words.
class Sentiment final : public Reward {
 public:
  Sentiment(std::shared_ptr<const ToyChain> chain, double sign)
      : chain_(std::move(chain)), weights_(chain_->words.size(), 0) {
    for (const toy::Feeling& feeling : toy::kFeelings)
      for (const std::string& word : split_words(feeling.words)) weights_[chain_->ids.at(word)] = sign * feeling.weight;
  }

  std::vector<double> score(std::span<const Candidate> candidates) override {
    std::vector<double> scores;
    for (const Candidate& candidate : candidates) {
      double odds = 0;
      for (const Token token : chain_->text(candidate.tokens)) odds += weights_[token];
      scores.push_back(odds < 0 ? odds - std::log1p(std::exp(odds)) : -std::log1p(std::exp(-odds)));
    }
    return scores;
  }

 private:
  std::shared_ptr<const ToyChain> chain_;
  std::vector<double> weights_;  // [vocab]
};

}  // namespace

std::shared_ptr<Reward> make_toy_reward(std::shared_ptr<const ToyChain> chain, std::string_view name) {
  if (name == "positive") return std::make_shared<Sentiment>(std::move(chain), 1.0);
  if (name == "negative") return std::make_shared<Sentiment>(std::move(chain), -1.0);
  return nullptr;
}

}  // namespace pgdlm
