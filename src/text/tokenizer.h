// Text to tokens and back, for the vocabularies of docs/gguf.md: byte-level BPE (GPT-2, RoBERTa, Qwen2, Llama 3, LLaDA)
// and WordPiece (BERT). Immutable, any thread; shared by whoever reads or writes text for the model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgdlm/plugin.h"
#include "text/vocabulary.h"

namespace pgdlm {

class SpecialTokens;
class Subword;

struct EncodeOptions {
  bool add_special = false;    // what the model expects around a text: BOS, <s> and </s>, [CLS] and [SEP]
  bool parse_special = false;  // control tokens spelt out in the text become themselves; user-defined ones always do
};

class Tokenizer {
 public:
  // Error{bad_model} or Error{unsupported} if the vocabulary is not in order.
  static std::shared_ptr<const Tokenizer> make(Vocabulary vocabulary);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Any bytes; byte-level BPE with all 256 bytes gives them back exactly unless the vocabulary asks for NFC or a space
  // in front, WordPiece a cleaned form of the text.
  // Error{invalid_request} for a byte the vocabulary cannot express.
  std::vector<Token> encode(std::string_view text, EncodeOptions options = {}) const;

  // Bytes, which are UTF-8 if the tokens make sense (see valid_utf8). Control tokens are left out unless kept.
  // Like everything below, Error{invalid_request} for a token beyond the vocabulary.
  std::string decode(std::span<const Token> tokens, bool keep_special = false) const;
  // Adds one token to a text that is being decoded; decode is this for each token.
  void append(std::string& text, Token token, bool keep_special = false) const;

  std::string piece(Token token) const;        // its bytes in the middle of a text; for a special token its name
  std::string display(Token token) const;      // printable: escapes for control characters and stray bytes, BERT's ##
  bool is_control(Token token) const;          // never part of a text: BOS, EOS, mask and the like
  Token special(std::string_view name) const;  // the control or user-defined token of this name; -1: none

  int size() const { return static_cast<int>(vocabulary_.pieces.size()); }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  explicit Tokenizer(Vocabulary vocabulary);
  std::size_t index(Token token) const;
  bool named(std::size_t index) const;  // its piece stands for itself, in no alphabet

  Vocabulary vocabulary_;
  std::unique_ptr<const SpecialTokens> specials_;
  std::unique_ptr<const Subword> subword_;
  Token first_ = -1, last_ = -1;     // what add_special adds
  Token strips_blanks_before_ = -1;  // RoBERTa's <mask>
};

}  // namespace pgdlm
