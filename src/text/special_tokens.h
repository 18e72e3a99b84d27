// Finds special tokens that are spelt out in a text: the leftmost first, the longest of those that start there.
// Immutable, any thread; reads the pieces of a Vocabulary that must outlive it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace pgdlm {

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  struct Found {
    std::size_t at = 0, length = 0;
    Token token = -1;
  };
  // The first one at or after `from`. User-defined tokens are always looked for, control tokens only if asked.
  std::optional<Found> find(std::string_view text, std::size_t from, bool control) const;
  // The control or user-defined token of that name; -1: none.
  Token named(std::string_view piece) const;

 private:
  struct Entry {
    Token token = -1;
    bool control = false;
  };
  std::unordered_map<std::string_view, Entry> entries_;
  std::array<std::vector<std::size_t>, 256> lengths_;  // of the entries with this first byte, the longest first
};

}  // namespace pgdlm
