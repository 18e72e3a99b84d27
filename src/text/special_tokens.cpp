#include "text/special_tokens.h"

#include <algorithm>
#include <functional>

namespace pgdlm {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
    const std::string& piece = vocabulary.pieces[i];
    const TokenType type = vocabulary.types[i];
    const bool control = type == TokenType::control || type == TokenType::unknown;
    if (piece.empty() || (!control && type != TokenType::user_defined)) continue;
    entries_.emplace(piece, Entry{static_cast<Token>(i), control});
    lengths_[static_cast<unsigned char>(piece.front())].push_back(piece.size());
  }
  for (std::vector<std::size_t>& lengths : lengths_) {
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  }
}

std::optional<SpecialTokens::Found> SpecialTokens::find(std::string_view text, std::size_t from, bool control) const {
  for (std::size_t at = from; at < text.size(); ++at)
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (length > text.size() - at) continue;
      const auto entry = entries_.find(text.substr(at, length));
      if (entry == entries_.end() || (entry->second.control && !control)) continue;
      return Found{at, length, entry->second.token};
    }
  return std::nullopt;
}

Token SpecialTokens::named(std::string_view piece) const {
  const auto entry = entries_.find(piece);
  return entry == entries_.end() ? -1 : entry->second.token;
}

}  // namespace pgdlm
