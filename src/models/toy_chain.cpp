#include "models/toy_chain.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/check.h"
#include "models/toy_words.h"

namespace pgdlm {
namespace {

// Any word may follow any other with this probability in all: words that a coarse step revealed side by side need
// not fit, and the denoiser still has to answer.
constexpr double kSlip = 1e-4;

struct Weighted {
  std::string word;
  double weight;
};

std::vector<Weighted> parse_row(std::string_view right) {
  std::istringstream in{std::string(right)};
  std::vector<Weighted> row;
  for (Weighted w; in >> w.word >> w.weight;) row.push_back(w);
  return row;
}

void normalise(std::span<double> row) {
  double sum = 0;
  for (double p : row) sum += p;
  PGDLM_CHECK(sum > 0);
  const double slip = kSlip / static_cast<double>(row.size());
  for (double& p : row) p = (1 - kSlip) * p / sum + slip;
}

bool is_mark(char c) { return c == '.' || c == ','; }

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;  // the next letter continues the last word
  for (char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space && (!open || is_mark(c))) words.emplace_back();
    if (!space) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    open = !space && !is_mark(c);
  }
  return words;
}

ToyChain::ToyChain() {
  for (const toy::Follows& rule : toy::kFollows) {
    for (std::string& word : split_words(rule.left)) {
      if (std::isalpha(static_cast<unsigned char>(word[0])) != 0) words.push_back(std::move(word));
    }
  }
  std::sort(words.begin(), words.end());
  for (const char* last : {",", ".", "</s>", "[MASK]"}) words.emplace_back(last);
  for (Token v = 0; v < static_cast<Token>(words.size()); ++v) ids.emplace(words[v], v);

  start.assign(size(), 0);
  matrix.assign(start.size() * start.size(), 0);
  for (const toy::Follows& rule : toy::kFollows) {
    std::istringstream lefts{std::string(rule.left)};
    for (std::string left; lefts >> left;) {
      const std::size_t offset = left == "<s>" ? 0 : ids.at(left) * start.size();
      std::vector<double>& rows = left == "<s>" ? start : matrix;
      for (const Weighted& w : parse_row(rule.right)) rows[offset + ids.at(w.word)] = w.weight;
    }
  }
  normalise(start);
  for (Token from = 0; from < size(); ++from) normalise(std::span(matrix).subspan(from * start.size(), start.size()));
}

Token ToyChain::id(std::string_view word, std::string_view field) const {
  const auto found = ids.find(std::string(word));
  if (found != ids.end() && found->second < eos()) return found->second;
  std::string some;
  for (Token v = 0; v < eos(); v += 4) some += (some.empty() ? "" : " ") + words[v];
  throw Error(ErrorCode::invalid_request,
              std::string(field) + ": the toy model does not know the word '" + std::string(word) + "'",
              "it knows " + std::to_string(eos()) + " words, among them: " + some + "; `pgdlm models` lists all");
}

std::span<const Token> ToyChain::text(std::span<const Token> tokens) const {
  const auto end = std::find(tokens.begin(), tokens.end(), eos());
  return tokens.first(end - tokens.begin());
}

}  // namespace pgdlm
