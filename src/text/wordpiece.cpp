// WordPiece, as BERT has it: clean the text, cut it at blanks, punctuation and Chinese characters, and take the longest
// piece that fits from each word, again and again. A word that cannot be covered is [UNK].
#include <algorithm>
#include <unordered_map>

#include "text/subword.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

constexpr std::string_view kWordMark = "\xE2\x96\x81";  // U+2581 before a piece that starts a word
constexpr std::size_t kLongestWord = 100;               // in characters; beyond, BERT does not even try

// The blocks BERT takes for Chinese. One of them starts at U+2B920 in the code everybody runs, not at U+2B820.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) || (c >= 0x7B && c <= 0x7E);
}

// Control characters and broken bytes vanish, all blanks are spaces, Chinese characters stand alone.
std::u32string clean(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const Utf8Step step = read_utf8(text);
    text.remove_prefix(step.length);
    const char32_t c = step.code;
    if (c == '\t' || c == '\n' || c == '\r') {
      out.push_back(U' ');
    } else if (c == 0 || c == 0xFFFD || is_control(c)) {
      continue;
    } else if (is_space(c)) {
      out.push_back(U' ');
    } else if (is_chinese(c)) {
      out.append({U' ', c, U' '});
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::u32string normalise(std::string_view text, const Vocabulary& vocabulary) {
  std::u32string chars = clean(text);
  if (vocabulary.strip_accents) {
    chars = decompose(chars);
    std::erase_if(chars, is_accent);
  }
  if (!vocabulary.lowercase) return chars;
  std::u32string lower;
  lower.reserve(chars.size());
  for (const char32_t c : chars) append_lower(c, lower);
  return lower;
}

std::vector<std::u32string_view> split(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  std::size_t begin = 0;
  const auto finish = [&](std::size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool punctuation = is_ascii_punctuation(text[at]) || is_punctuation(text[at]);
    if (!punctuation && !is_space(text[at])) continue;
    finish(at);
    if (punctuation) words.push_back(text.substr(at, 1));
    begin = at + 1;
  }
  finish(text.size());
  return words;
}

class WordPiece final : public Subword {
 public:
  explicit WordPiece(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
      if (vocabulary.types[i] != TokenType::normal) continue;
      std::string_view piece = vocabulary.pieces[i];
      const bool starts = starts_word(piece);
      if (starts) piece.remove_prefix(kWordMark.size());
      (starts ? starts_ : continues_).emplace(piece, static_cast<Token>(i));
      longest_ = std::max(longest_, piece.size());
    }
  }

  void encode(std::string_view text, std::vector<Token>& out) const override {
    const std::u32string chars = normalise(text, vocabulary_);
    for (const std::u32string_view word : split(chars)) cover(word, out);
  }

  // As BERT writes it elsewhere: a space before a word, and ## is only for display.
  std::string bytes(Token token) const override {
    const std::string_view piece = vocabulary_.pieces[static_cast<std::size_t>(token)];
    if (!starts_word(piece)) return std::string(piece);
    return std::string(" ").append(piece.substr(kWordMark.size()));
  }

  // BERT's words know nothing of the spaces between them; this is how English is mostly set.
  bool joins(std::string_view previous, std::string_view bytes) const override {
    if (!bytes.starts_with(' ')) return false;
    if (previous.empty()) return true;
    constexpr std::string_view close = ".,!?;:)]}'", open = "([{'";
    return (bytes.size() == 2 && close.find(bytes[1]) != std::string_view::npos) ||
           open.find(previous.back()) != std::string_view::npos;
  }

 private:
  using Pieces = std::unordered_map<std::string_view, Token>;

  static bool starts_word(std::string_view piece) { return piece.starts_with(kWordMark) && piece != kWordMark; }

  void cover(std::u32string_view word, std::vector<Token>& out) const {
    const std::size_t before = out.size();
    std::string text;
    for (const char32_t c : word) append_utf8(c, text);
    std::string_view rest = word.size() > kLongestWord ? std::string_view() : text;
    while (!rest.empty()) {
      const Pieces& pieces = rest.size() == text.size() ? starts_ : continues_;
      std::size_t length = std::min(rest.size(), longest_);
      auto found = pieces.find(rest.substr(0, length));
      while (found == pieces.end() && length > 1) found = pieces.find(rest.substr(0, --length));
      if (found == pieces.end()) {
        out.resize(before);
        break;
      }
      out.push_back(found->second);
      rest.remove_prefix(length);
    }
    if (out.size() == before) out.push_back(vocabulary_.unk);
  }

  const Vocabulary& vocabulary_;
  Pieces starts_, continues_;  // without their marks
  std::size_t longest_ = 1;
};

}  // namespace

std::unique_ptr<const Subword> make_wordpiece(const Vocabulary& vocabulary) {
  return std::make_unique<WordPiece>(vocabulary);
}

}  // namespace pgdlm
