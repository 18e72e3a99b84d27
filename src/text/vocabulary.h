// The vocabulary of a model as plain data, and how it is read from a GGUF file (docs/gguf.md lists the keys).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

enum class TokenType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

// Two pieces that become one; the earlier in Vocabulary::merges, the sooner.
struct Merge {
  Token left = -1, right = -1, result = -1;
  friend bool operator==(const Merge&, const Merge&) = default;
};

struct Vocabulary {
  std::string source = "vocabulary";  // the file it was read from, for messages
  std::string model;                  // "gpt2": byte-level BPE, "bert": WordPiece
  std::string pre;                    // pre-tokeniser of byte-level BPE, a name of pretokenizers()
  std::vector<std::string> pieces;    // as stored: bytes as GPT-2's printable characters; for bert U+2581 before words
  std::vector<TokenType> types;       // one for each piece
  std::vector<Merge> merges;          // byte-level BPE
  Token bos = -1, eos = -1, eot = -1, unk = -1, sep = -1, pad = -1, cls = -1, mask = -1;  // -1: there is none
  bool add_bos = false, add_eos = false;        // what EncodeOptions::add_special adds; for bert always [CLS] and [SEP]
  bool lowercase = true, strip_accents = true;  // bert
  bool nfc = false;               // gpt2: text is composed before it is cut; special tokens and stray bytes are not
  bool add_space_prefix = false;  // gpt2: a stretch of text between special tokens begins with a space
  std::string chat_template;      // Jinja; empty: none
};

// Error{bad_model} naming the file, the key, what was expected and what was found, if anything does not fit together;
// Error{unsupported} for a kind of tokeniser we do not have. Special tokens without a key are found by their usual
// names.
Vocabulary read_vocabulary(const Gguf& file);

// Merges written as "left right". Error{bad_model} if they name pieces that do not exist.
std::vector<Merge> resolve_merges(const std::string& source, std::span<const std::string> pieces,
                                  std::span<const std::string> lines);

// What read_vocabulary promises of a vocabulary however made, except for its merges' texts and double pieces.
void check(const Vocabulary& vocabulary);

}  // namespace pgdlm
