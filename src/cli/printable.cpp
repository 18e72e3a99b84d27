#include "cli/printable.h"

namespace pgdlm::cli {

std::string printable(std::string text) {
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
    text = text.substr(0, end) + "...";
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
    if (at(i) < 0x20 || at(i) == 0x7f) text[i] = '?';
    if (at(i) == 0xc2 && i + 1 < text.size() && at(i + 1) < 0xa0) text.replace(i, 2, "?");  // U+0080 to U+009F
  }
  return text;
}

}  // namespace pgdlm::cli
