#include "gguf/byte_cursor.h"

#include <algorithm>

namespace pgdlm {
namespace {

// The bytes of the character that starts with `lead`; 0 for a byte that starts none.
int character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Longer than it need be, half of a surrogate pair, or beyond the last character.
bool out_of_range(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
         (lead == 0xf4 && second >= 0x90);
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const auto length = static_cast<std::size_t>(character_length(lead));
    if (length == 0 || length > text.size() - i) return false;
    for (std::size_t j = 1; j < length; ++j)
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
    if (length > 1 && out_of_range(lead, static_cast<unsigned char>(text[i + 1]))) return false;
    i += length;
  }
  return true;
}

std::span<const std::byte> ByteCursor::take(std::uint64_t bytes) {
  if (bytes > left())
    fail("the file ends too early: " + std::to_string(bytes) + " bytes wanted at offset " + std::to_string(position_) +
             ", " + std::to_string(left()) + " left",
         kDamagedHint);
  const std::span<const std::byte> taken = file_.subspan(position_, bytes);
  position_ += bytes;
  return taken;
}

std::string ByteCursor::string() {
  const std::size_t length = count(1, 1);
  const std::span<const std::byte> bytes = take(length);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!valid_utf8(text)) fail("a string at offset " + std::to_string(position_ - length) + " is not valid UTF-8");
  return text;
}

std::size_t ByteCursor::count(std::size_t bytes_each, std::size_t memory_each) {
  const auto claimed = number<std::uint64_t>();
  if (claimed > left() / bytes_each)
    fail("claims " + std::to_string(claimed) + " entries of " + std::to_string(bytes_each) +
             " bytes or more, but only " + std::to_string(left()) + " bytes of the file are left",
         kDamagedHint);
  if (claimed > kMemory / memory_each) charge(kMemory + 1);
  charge(claimed * memory_each);
  return claimed;
}

void ByteCursor::charge(std::size_t bytes) {
  charged_ += std::min(bytes, kMemory + 1);
  if (charged_ > kMemory) fail("the header would take more than 256 MB of memory, which no model needs");
}

void ByteCursor::fail(const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::bad_model, path_ + ": " + what_ + ": " + message, hint);
}

}  // namespace pgdlm
