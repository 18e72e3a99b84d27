// The two kinds of subword models behind a Tokenizer: they turn text without special tokens into tokens, and tokens
// into bytes. Immutable, any thread; they read a Vocabulary that must outlive them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace pgdlm {

class Subword {
 public:
  virtual ~Subword() = default;
  virtual void encode(std::string_view text, std::vector<Token>& out) const = 0;
  // The bytes of a piece of text (not of a special token), as in the middle of a text.
  virtual std::string bytes(Token token) const = 0;
  // Whether the space that `bytes` starts with is left out after `previous`, the text so far.
  virtual bool joins(std::string_view previous, std::string_view bytes) const = 0;
};

// The vocabulary has passed check().
std::unique_ptr<const Subword> make_bpe(const Vocabulary& vocabulary);
std::unique_ptr<const Subword> make_wordpiece(const Vocabulary& vocabulary);

}  // namespace pgdlm
