// The vocabulary of a Hugging Face folder as its files state it, whichever files those are: tokenizer.json; vocab.json
// and merges.txt; or vocab.txt. Pure reading; what it means for a GGUF file is hf_tokenizer's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace pgdlm {

struct AddedToken {
  std::string text;
  bool special = false;
};

struct HfVocab {
  std::string source;  // the file the pieces are from, for messages
  bool wordpiece = false;
  std::map<std::int64_t, std::string> pieces;
  std::map<std::int64_t, AddedToken> added;  // may repeat pieces
  std::vector<std::string> merges;           // "left right"
  bool ignore_merges = false;                // a word that is a piece is that piece, whatever the merges say
  bool complete = false;                     // from tokenizer.json: it also says how text is prepared
  nlohmann::json pre_tokenizer, normalizer;  // of tokenizer.json, null otherwise
};

// Error{invalid_request}, with `hint` (empty: a general one), if none of the files are there; Error{bad_model} or
// Error{unsupported} about what is in them.
HfVocab read_vocab(const std::filesystem::path& folder, const std::string& hint);

}  // namespace pgdlm
