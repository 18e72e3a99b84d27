// Tokens, one at a time, to text that is valid UTF-8 at every moment: a character that is spread over several tokens
// comes when its last byte is there, and bytes that are no character come as U+FFFD. Nothing is lost silently.
// Owned by one reader and used by its thread; all it has said, joined, is valid_utf8(tokenizer.decode(tokens)).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "text/tokenizer.h"

namespace pgdlm {

class StreamDecoder {
 public:
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool keep_special = false)
      : tokenizer_(std::move(tokenizer)), keep_special_(keep_special) {}

  std::string feed(Token token);  // may be empty
  std::string flush();            // what is left of a character that never ended; then it starts anew

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool keep_special_;
  std::string text_;      // the last byte said (WordPiece looks at it) and all bytes not yet said
  std::size_t said_ = 0;  // of text_: 0 or 1
};

}  // namespace pgdlm
