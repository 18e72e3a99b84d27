// The tokenizer of a Hugging Face folder in the form of a GGUF file: pieces with types for every row of the embedding,
// merges, the name of the pre-tokeniser, special ids. Lives within one conversion.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/json_file.h"
#include "convert/plan.h"

namespace pgdlm {

// What a family of models adds to what its files say.
struct TokenizerRules {
  std::int64_t rows = 0;                     // of the embedding; the vocabulary is padded to it
  std::string default_pre = "gpt-2";         // pre-tokeniser where no tokenizer.json says it
  bool default_nfc = false;                  // the same for composing text first
  std::optional<std::int64_t> mask;          // id, where config.json has it
  std::map<std::string, std::string> names;  // role -> piece, for folders that do not say: {"mask", "<mask>"}
  bool needs_mask = false;                   // a denoiser without a mask is an error
  std::optional<bool> add_bos, add_eos;      // what encoding adds, whatever the files say
  std::string absent_hint;                   // what to do if there are no tokenizer files
};

struct HfTokenizer {
  bool wordpiece = false;
  std::string pre;  // BPE
  std::vector<std::string> pieces;
  std::vector<std::int64_t> types;
  std::vector<std::string> merges;
  std::map<std::string, std::int64_t> ids;  // role -> token: bos, eos, eot, unknown, seperator, padding, cls, mask
  std::optional<bool> add_bos, add_eos, add_space_prefix;
  bool nfc = false;       // BPE: text is composed first
  bool lowercase = true;  // WordPiece
  std::optional<bool> strip_accents;
  std::string chat_template;

  std::optional<std::int64_t> id_of(std::string_view piece) const;
};

// `folder` has the tokenizer's files; those about the model are beside `config`.
HfTokenizer read_tokenizer(const std::filesystem::path& folder, const JsonFile& config, const TokenizerRules& rules);

void set_tokenizer_keys(const HfTokenizer& tokenizer, Plan& plan);

}  // namespace pgdlm
