#include "text/small_vocabulary.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace pgdlm::test {

std::string byte_letter(unsigned char byte) {
  // The bytes that are no printable characters of Latin-1, in order, are U+0100, U+0101, ...
  std::vector<int> unprintable;
  for (int b = 0; b < 256; ++b)
    if (b <= ' ' || (b >= 127 && b <= 160) || b == 173) unprintable.push_back(b);
  const auto found = std::find(unprintable.begin(), unprintable.end(), byte);
  std::string letter;
  append_utf8(found == unprintable.end() ? byte : static_cast<char32_t>(0x100 + (found - unprintable.begin())), letter);
  return letter;
}

std::string spelt(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += byte_letter(static_cast<unsigned char>(byte));
  return out;
}

Vocabulary byte_vocabulary(std::string pre, const std::vector<std::pair<std::string, std::string>>& merges) {
  Vocabulary v;
  v.model = "gpt2";
  v.pre = std::move(pre);
  for (int byte = 0; byte < 256; ++byte) v.pieces.push_back(byte_letter(static_cast<unsigned char>(byte)));
  std::vector<std::string> lines;
  for (const auto& [left, right] : merges) {
    lines.push_back(spelt(left) + " " + spelt(right));
    if (const std::string both = spelt(left + right); std::ranges::find(v.pieces, both) == v.pieces.end())
      v.pieces.push_back(both);
  }
  v.merges = resolve_merges(v.source, v.pieces, lines);
  v.types.assign(v.pieces.size(), TokenType::normal);
  const auto add = [&](std::string_view name, TokenType type) {
    v.pieces.emplace_back(name);
    v.types.push_back(type);
    return static_cast<Token>(v.pieces.size()) - 1;
  };
  v.bos = add("<bos>", TokenType::control);
  v.eos = add("<eos>", TokenType::control);
  v.mask = add("<mask>", TokenType::control);
  add("<tool>", TokenType::user_defined);
  return v;
}

Vocabulary bert_vocabulary(const std::vector<std::string>& pieces) {
  Vocabulary v;
  v.model = "bert";
  v.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  v.types.assign(v.pieces.size(), TokenType::control);
  v.pad = 0, v.unk = 1, v.cls = 2, v.sep = 3, v.mask = 4;
  for (const std::string& piece : pieces) {
    v.pieces.push_back(piece.starts_with("##") ? piece.substr(2) : "\u2581" + piece);
    v.types.push_back(TokenType::normal);
  }
  return v;
}

}  // namespace pgdlm::test
