#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <vector>

#include <utf8proc.h>

#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

utf8proc_category_t category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

int combining_class(char32_t code) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

CharClass look_up(char32_t code) {
  if (is_space(code)) return CharClass::space;
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return CharClass::number;
    default: return CharClass::other;
  }
}

std::array<CharClass, 128> ascii_classes() {
  std::array<CharClass, 128> classes;
  for (char32_t code = 0; code < 128; ++code) classes[code] = look_up(code);
  return classes;
}

// Appends the composed form of `chars` and empties it.
void flush_composed(std::u32string& chars, std::string& out) {
  const std::u32string parts = decompose(chars);  // in canonical order; utf8proc's own way to it is quadratic in marks
  std::vector<utf8proc_int32_t> codes(parts.begin(), parts.end());
  const auto flags = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), flags);
  if (count < 0) throw Error(ErrorCode::internal, "utf8proc cannot compose a text");
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(static_cast<char32_t>(codes[static_cast<std::size_t>(i)]), out);
  chars.clear();
}

}  // namespace

CharClass char_class(char32_t code) {
  static const std::array<CharClass, 128> ascii = ascii_classes();
  return code < 128 ? ascii[code] : look_up(code);
}

bool is_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_control(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO: return true;
    default: return false;
  }
}

bool is_punctuation(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return true;
    default: return false;
  }
}

bool is_accent(char32_t code) { return category(code) == UTF8PROC_CATEGORY_MN; }

void append_lower(char32_t code, std::u32string& out) {
  if (code == 0x130) {  // the one character whose lower case is two: i and a dot above
    out += U"i\u0307";
    return;
  }
  out.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

std::u32string decompose(std::u32string_view text) {
  std::u32string out;
  std::array<utf8proc_int32_t, 32> parts;  // a character has at most 18, compatibility forms included
  for (const char32_t code : text) {
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                                           parts.size(), UTF8PROC_DECOMPOSE, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size()))
      throw Error(ErrorCode::internal, "utf8proc cannot decompose a character");
    out.append(parts.begin(), parts.begin() + count);
  }
  // Marks after a letter stand in the order of their combining classes, equal ones as they came.
  const auto starts = [](char32_t code) { return combining_class(code) == 0; };
  for (auto mark = out.begin(); mark != out.end();) {
    const auto begin = std::find_if_not(mark, out.end(), starts);
    mark = std::find_if(begin, out.end(), starts);
    std::stable_sort(begin, mark, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
  }
  return out;
}

std::string compose_utf8(std::string_view text) {
  const auto ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  if (std::all_of(text.begin(), text.end(), ascii)) return std::string(text);
  std::string out;
  std::u32string chars;
  while (!text.empty()) {
    const Utf8Step step = read_utf8(text);
    if (step.kind == Utf8Step::kCharacter) {
      chars.push_back(step.code);
    } else {
      flush_composed(chars, out);
      out += text.substr(0, step.length);
    }
    text.remove_prefix(step.length);
  }
  flush_composed(chars, out);
  return out;
}

}  // namespace pgdlm
