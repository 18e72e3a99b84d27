// The chain behind the toy model: its words, its matrix, and the helpers its rewards share.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

struct ToyChain {
  std::vector<std::string> words;  // [vocab]: the words, then </s>, then [MASK]
  std::unordered_map<std::string, Token> ids;
  std::vector<double> start;   // [size]
  std::vector<double> matrix;  // [size, size] P(from, to)

  ToyChain();
  int size() const { return static_cast<int>(words.size()) - 1; }  // of the chain: all but [MASK]
  Token eos() const { return size() - 1; }
  Token mask() const { return size(); }
  std::span<const double> row(Token from) const {
    return std::span(matrix).subspan(static_cast<std::size_t>(from) * size(), size());
  }
  Token id(std::string_view word, std::string_view field) const;     // Error{invalid_request} naming the field
  std::span<const Token> text(std::span<const Token> tokens) const;  // up to the first </s>
};

std::vector<std::string> split_words(std::string_view text);
std::shared_ptr<Reward> make_toy_reward(std::shared_ptr<const ToyChain>, std::string_view name);

}  // namespace pgdlm
