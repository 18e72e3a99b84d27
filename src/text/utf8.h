// UTF-8 that may be broken: what a network generates is bytes, and only most of the time text. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pgdlm {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What stands at one place of a byte string. `length` bytes belong together: a whole character, or the longest
// beginning of one that broke off (what the Unicode standard replaces by one U+FFFD).
struct Utf8Step {
  enum Kind { kCharacter, kBroken, kCut };  // kCut: the string ends inside what may still become a character
  Kind kind = kBroken;
  std::size_t length = 1;
  char32_t code = 0xFFFD;
};

// `bytes` must not be empty.
Utf8Step read_utf8(std::string_view bytes);

void append_utf8(char32_t code, std::string& out);

// The same text with every broken place as U+FFFD; valid text comes back unchanged.
std::string valid_utf8(std::string_view bytes);

}  // namespace pgdlm
