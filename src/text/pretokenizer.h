// How byte-level BPE cuts text into words before it merges. The rules are the published regexes, matched by hand:
//
//   gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   qwen2   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|
//   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ llama3  the same with \p{N}{1,3}
//
// A byte that is not UTF-8 counts as a character of no class, so that any bytes can be cut and put together again.
// Pure functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace pgdlm {

enum class SplitRule { gpt2, qwen2, llama3 };

// What a value of `tokenizer.ggml.pre` means; names and defaults are llama.cpp's.
struct PreTokenizer {
  std::string_view name;
  SplitRule rule = SplitRule::gpt2;
  bool ignore_merges = false;  // a word that is a piece is that piece, whatever the merges say
  bool add_bos = false;        // unless the file says otherwise
  bool add_eos = false;
  bool mask_strips = false;  // the mask token swallows the blanks before it
};

std::span<const PreTokenizer> pretokenizers();
const PreTokenizer* find_pretokenizer(std::string_view name);  // null: unknown

// The words of a text in order; together they are the text.
std::vector<std::string_view> split_words(SplitRule rule, std::string_view text);

}  // namespace pgdlm
