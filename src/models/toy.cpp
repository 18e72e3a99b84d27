#include "models/toy.h"

#include <cctype>
#include <cmath>
#include <utility>

#include "models/toy_chain.h"

namespace pgdlm {
namespace {

// Messages along the chain: what the words on one side of a position, up to the nearest revealed one, say of it.
class ToyDenoiser final : public Denoiser {
 public:
  explicit ToyDenoiser(std::shared_ptr<const ToyChain> chain) : chain_(std::move(chain)) {}

  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<PredictionPtr> predictions;
    for (const StateView& state : states) predictions.push_back(predict(state.tokens));
    return predictions;
  }
  int vocab() const override { return chain_->size() + 1; }
  Token mask() const override { return chain_->mask(); }

 private:
  // A revealed position is predicted as if it were masked.
  PredictionPtr predict(std::span<const Token> tokens) const {
    constexpr float kNever = -1e4F;  // finite, so that guidance may subtract it
    const int length = static_cast<int>(tokens.size());
    const std::vector<double> from_right = backward(tokens);
    std::vector<float> logits(tokens.size() * vocab(), kNever);
    std::vector<double> from_left = chain_->start;
    for (int l = 0; l < length; ++l) {
      for (int v = 0; v < chain_->size(); ++v) {
        const double p = from_left[v] * from_right[static_cast<std::size_t>(l) * chain_->size() + v];
        logits[static_cast<std::size_t>(l) * vocab() + v] = static_cast<float>(std::log(p));
      }
      from_left = step_right(from_left, tokens[l]);
    }
    return std::make_shared<TablePrediction>(vocab(), std::move(logits));
  }

  // P(u, .) of a revealed word u, or the message carried over a masked position.
  std::vector<double> step_right(const std::vector<double>& message, Token token) const {
    if (token != mask()) return {chain_->row(token).begin(), chain_->row(token).end()};
    std::vector<double> next(message.size(), 0);
    for (Token from = 0; from < chain_->size(); ++from)
      for (Token to = 0; to < chain_->size(); ++to) next[to] += message[from] * chain_->row(from)[to];
    return next;
  }

  // [length, size]: P^e(v, w) for the nearest revealed w to the right, e positions away.
  std::vector<double> backward(std::span<const Token> tokens) const {
    const std::size_t size = chain_->size();
    std::vector<double> messages(tokens.size() * size, 0);
    for (std::size_t l = tokens.size(); l-- > 0;) {
      const bool end = l + 1 == tokens.size();
      const Token right = end ? chain_->eos() : tokens[l + 1];
      for (std::size_t v = 0; v < size; ++v) {
        const std::span<const double> row = chain_->row(static_cast<Token>(v));
        double sum = 0;
        if (right != mask())
          sum = row[right];
        else
          for (std::size_t w = 0; w < size; ++w) sum += row[w] * messages[(l + 1) * size + w];
        messages[l * size + v] = sum;
      }
    }
    return messages;
  }

  std::shared_ptr<const ToyChain> chain_;
};

}  // namespace

ToyModel::ToyModel() : chain_(std::make_shared<const ToyChain>()) {}

std::shared_ptr<Denoiser> ToyModel::denoiser() const { return std::make_shared<ToyDenoiser>(chain_); }

std::shared_ptr<Reward> ToyModel::reward(std::string_view name) const { return make_toy_reward(chain_, name); }

std::vector<Token> ToyModel::encode(std::string_view text, std::string_view field) const {
  std::vector<Token> tokens;
  for (const std::string& word : split_words(text)) tokens.push_back(chain_->id(word, field));
  return tokens;
}

std::string ToyModel::decode(std::span<const Token> tokens) const {
  std::string text;
  bool sentence = true;  // the next word begins one
  for (Token token : chain_->text(tokens)) {
    std::string word = chain_->words[token];
    const bool mark = word == "." || word == ",";
    if (sentence || word == "i") word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
    if (!text.empty() && !mark) text += ' ';
    text += word;
    sentence = word == ".";
  }
  return text;
}

Token ToyModel::mask() const { return chain_->mask(); }
Token ToyModel::eos() const { return chain_->eos(); }
const std::vector<std::string>& ToyModel::words() const { return chain_->words; }
double ToyModel::start(Token first) const { return chain_->start[first]; }
double ToyModel::transition(Token from, Token to) const { return chain_->row(from)[to]; }

}  // namespace pgdlm
