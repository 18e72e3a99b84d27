// Properties of characters, as the regexes of tokenisers and BERT's normaliser need them. Pure functions; the tables
// are utf8proc's.
#pragma once

#include <string>
#include <string_view>

namespace pgdlm {

enum class CharClass : unsigned char { letter, number, space, other };  // \p{L}, \p{N}, \s, none of them

CharClass char_class(char32_t code);
bool is_space(char32_t code);        // the White_Space property, as \s
bool is_control(char32_t code);      // \p{C}, except unassigned
bool is_punctuation(char32_t code);  // \p{P}
bool is_accent(char32_t code);       // \p{Mn}

// Appends the lower-case form of one character, without regard to its neighbours.
void append_lower(char32_t code, std::u32string& out);
// Canonical decomposition (NFD), in canonical order.
std::u32string decompose(std::u32string_view text);
// Canonical composition (NFC) of each stretch of valid UTF-8; bytes that are none stay where and as they are.
std::string compose_utf8(std::string_view text);

}  // namespace pgdlm
