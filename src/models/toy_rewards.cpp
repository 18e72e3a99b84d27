// Rewards of the toy model. Each reads the text up to the first </s>, prompt included.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "models/toy_chain.h"
#include "models/toy_words.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

class ToyReward : public Reward {
 public:
  explicit ToyReward(std::shared_ptr<const ToyChain> chain) : chain_(std::move(chain)) {}
  std::vector<double> score(std::span<const Candidate> candidates) final {
    std::vector<double> scores;
    for (const Candidate& candidate : candidates) scores.push_back(score_text(chain_->text(candidate.tokens)));
    return scores;
  }

 protected:
  virtual double score_text(std::span<const Token> text) const = 0;
  const ToyChain& chain() const { return *chain_; }

 private:
  std::shared_ptr<const ToyChain> chain_;
};

// log p(positive) or log p(negative) of a logistic reader of words.
class Sentiment final : public ToyReward {
 public:
  Sentiment(std::shared_ptr<const ToyChain> chain, double sign)
      : ToyReward(std::move(chain)), weights_(this->chain().words.size(), 0) {
    for (const toy::Feeling& feeling : toy::kFeelings)
      for (const std::string& word : split_words(feeling.words))
        weights_[this->chain().ids.at(word)] = sign * feeling.weight;
  }

 private:
  double score_text(std::span<const Token> text) const override {
    double odds = 0;
    for (Token token : text) odds += weights_[token];
    return odds < 0 ? odds - std::log1p(std::exp(odds)) : -std::log1p(std::exp(-odds));
  }

  std::vector<double> weights_;  // [vocab]
};

class Contains final : public ToyReward {
 public:
  Contains(std::shared_ptr<const ToyChain> chain, Token word) : ToyReward(std::move(chain)), word_(word) {}

 private:
  double score_text(std::span<const Token> text) const override {
    for (Token token : text)
      if (token == word_) return 0;
    return -std::numeric_limits<double>::infinity();
  }

  Token word_;
};

struct Range {
  int low = 0, high = 0;
};

class Length final : public ToyReward {
 public:
  Length(std::shared_ptr<const ToyChain> chain, Range range) : ToyReward(std::move(chain)), range_(range) {}

 private:
  double score_text(std::span<const Token> text) const override {
    int words = 0;
    for (Token token : text) words += std::isalpha(static_cast<unsigned char>(chain().words[token][0])) != 0;
    if (words < range_.low) return words - range_.low;
    return words > range_.high ? range_.high - words : 0;
  }

  Range range_;
};

std::optional<int> parse_count(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Range parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    const auto low = parse_count(text.substr(0, dots)), high = parse_count(text.substr(dots + 2));
    if (low && high && *low <= *high) return {*low, *high};
  }
  throw Error(ErrorCode::invalid_request, "reward: 'length:" + std::string(text) + "' is not a range of words",
              "write length:A..B with 0 <= A <= B, such as length:8..12");
}

}  // namespace

std::shared_ptr<Reward> make_toy_reward(std::shared_ptr<const ToyChain> chain, std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view argument = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  if (name == "positive") return std::make_shared<Sentiment>(std::move(chain), 1.0);
  if (name == "negative") return std::make_shared<Sentiment>(std::move(chain), -1.0);
  if (kind == "length") return std::make_shared<Length>(std::move(chain), parse_range(argument));
  if (kind == "contains") {
    const std::vector<std::string> words = split_words(argument);
    if (words.size() != 1) throw Error(ErrorCode::invalid_request, "reward: 'contains:' takes one word");
    const Token word = chain->id(words[0], "reward");
    return std::make_shared<Contains>(std::move(chain), word);
  }
  return nullptr;
}

}  // namespace pgdlm
