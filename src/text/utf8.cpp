#include "text/utf8.h"

namespace pgdlm {
namespace {

// What a first byte announces. The second byte has a narrower range after some of them, which keeps out overlong forms,
// surrogates and everything beyond U+10FFFF.
struct Lead {
  std::size_t length = 0;  // 0: no character starts so
  unsigned char low = 0x80, high = 0xBF;
};

Lead lead(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xC2) return {0};
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step read_utf8(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const Lead first = lead(at(0));
  if (first.length == 0) return {Utf8Step::kBroken, 1};
  if (first.length == 1) return {Utf8Step::kCharacter, 1, at(0)};

  char32_t code = at(0) & (0x7Fu >> first.length);
  for (std::size_t i = 1; i < first.length; ++i) {
    if (i == bytes.size()) return {Utf8Step::kCut, i};
    const unsigned char low = i == 1 ? first.low : 0x80, high = i == 1 ? first.high : 0xBF;
    if (at(i) < low || at(i) > high) return {Utf8Step::kBroken, i};
    code = code << 6 | (at(i) & 0x3Fu);
  }
  return {Utf8Step::kCharacter, first.length, code};
}

void append_utf8(char32_t code, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = read_utf8(bytes);
    text += step.kind == Utf8Step::kCharacter ? bytes.substr(0, step.length) : kReplacement;
    bytes.remove_prefix(step.length);
  }
  return text;
}

}  // namespace pgdlm
