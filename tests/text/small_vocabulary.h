// Vocabularies small enough to work out by hand what a tokeniser must do with them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/vocabulary.h"

namespace pgdlm::test {

// The character GPT-2 writes for a byte.
std::string byte_letter(unsigned char byte);
// A piece as a byte-level vocabulary stores it.
std::string spelt(std::string_view bytes);

// Tokens 0 to 255 are the bytes; then one token for each merge, then the
// special tokens <bos>, <eos>, <mask> (control) and <tool> (user-defined).
Vocabulary byte_vocabulary(std::string pre, const std::vector<std::pair<std::string, std::string>>& merges);

// Pieces in BERT's own spelling ("##ing"); [PAD] [UNK] [CLS] [SEP] [MASK] come first as tokens 0 to 4.
Vocabulary bert_vocabulary(const std::vector<std::string>& pieces);

}  // namespace pgdlm::test
