// Byte-level BPE. Words are cut by the pre-tokeniser, start as their bytes, and are merged pair by pair, the pair of
// the lowest rank first and of equal ones the leftmost. A heap of candidate pairs over a linked list keeps this at O(n
// log n) for a word of n bytes, however long.
#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "pgdlm/error.h"
#include "text/pretokenizer.h"
#include "text/subword.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

// GPT-2 writes each byte as a printable character: itself if it is one of Latin-1, otherwise U+0100 and up in order.
std::array<char32_t, 256> byte_alphabet() {
  std::array<char32_t, 256> letters;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    letters[byte] = printable ? byte : next++;
  }
  return letters;
}

// What a piece stands for; nothing if it is not written in the alphabet.
std::optional<std::string> spelt_bytes(std::string_view piece) {
  static const std::unordered_map<char32_t, char> bytes = [] {
    std::unordered_map<char32_t, char> map;
    const std::array<char32_t, 256> letters = byte_alphabet();
    for (std::size_t byte = 0; byte < letters.size(); ++byte) map.emplace(letters[byte], static_cast<char>(byte));
    return map;
  }();
  std::string out;
  while (!piece.empty()) {
    const Utf8Step step = read_utf8(piece);
    const auto found = bytes.find(step.code);
    if (step.kind != Utf8Step::kCharacter || found == bytes.end()) return std::nullopt;
    out.push_back(found->second);
    piece.remove_prefix(step.length);
  }
  return out;
}

struct Ranked {
  std::uint32_t rank = 0;
  Token result = -1;
};

std::uint64_t pair_key(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

// The default hash of integers is the identity: here all right tokens of a left one would share few buckets.
struct PairHash {
  std::size_t operator()(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(key ^ key >> 32);
  }
};

class Bpe final : public Subword {
 public:
  explicit Bpe(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), pre_(*find_pretokenizer(vocabulary.pre)), bytes_(vocabulary.pieces.size()) {
    byte_tokens_.fill(vocabulary.unk);
    for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
      const bool written = vocabulary.types[i] == TokenType::normal;
      const std::optional<std::string> spelt = written ? spelt_bytes(vocabulary.pieces[i]) : std::nullopt;
      bytes_[i] = spelt.value_or(vocabulary.pieces[i]);
      if (written && bytes_[i].size() == 1)
        byte_tokens_[static_cast<unsigned char>(bytes_[i][0])] = static_cast<Token>(i);
    }
    index_merges();
    if (pre_.ignore_merges) index_words();
  }

  void encode(std::string_view text, std::vector<Token>& out) const override {
    const bool prefix = vocabulary_.add_space_prefix && !text.empty() && !text.starts_with(' ');
    if (!vocabulary_.nfc && !prefix) return encode_words(text, out);
    const std::string prepared = vocabulary_.nfc ? compose_utf8(text) : std::string(text);
    encode_words(prefix ? " " + prepared : prepared, out);
  }

  std::string bytes(Token token) const override { return bytes_[static_cast<std::size_t>(token)]; }
  bool joins(std::string_view, std::string_view) const override { return false; }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  void encode_words(std::string_view text, std::vector<Token>& out) const {
    for (const std::string_view word : split_words(pre_.rule, text)) {
      const auto whole = words_.find(word);
      if (whole != words_.end())
        out.push_back(whole->second);
      else
        merge(word, out);
    }
  }

  struct Symbol {
    Token token = -1;  // -1: merged into the one before
    std::uint32_t before = kEnd, after = kEnd;
  };
  struct Candidate {
    Ranked merge;
    std::uint32_t at = 0;  // of its left symbol
    Token left = -1, right = -1;
  };
  struct Later {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.merge.rank != b.merge.rank ? a.merge.rank > b.merge.rank : a.at > b.at;
    }
  };
  using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, Later>;

  void index_merges() {
    merges_.reserve(vocabulary_.merges.size());
    for (std::size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
      const Merge& merge = vocabulary_.merges[rank];
      merges_.emplace(pair_key(merge.left, merge.right), Ranked{static_cast<std::uint32_t>(rank), merge.result});
    }
  }

  void index_words() {
    words_.reserve(bytes_.size());
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (vocabulary_.types[i] == TokenType::normal) words_.emplace(bytes_[i], static_cast<Token>(i));
  }

  Token byte_token(char byte) const {
    const Token token = byte_tokens_[static_cast<unsigned char>(byte)];
    if (token < 0)
      throw Error(ErrorCode::invalid_request,
                  fmt::format("the text has a byte 0x{:02X}, for which {} has neither a token nor an unknown token",
                              static_cast<unsigned char>(byte), vocabulary_.source));
    return token;
  }

  std::optional<Candidate> candidate(const std::vector<Symbol>& symbols, std::uint32_t at) const {
    if (at == kEnd || symbols[at].after == kEnd) return std::nullopt;
    const Token left = symbols[at].token, right = symbols[symbols[at].after].token;
    const auto found = merges_.find(pair_key(left, right));
    if (found == merges_.end()) return std::nullopt;
    return Candidate{found->second, at, left, right};
  }

  std::vector<Symbol> spell(std::string_view word) const {
    if (word.size() >= kEnd)
      throw Error(ErrorCode::invalid_request, "a text without a blank in 4 GiB cannot be encoded");
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (std::uint32_t i = 0; i < word.size(); ++i)
      symbols.push_back({byte_token(word[i]), i == 0 ? kEnd : i - 1, i + 1 == word.size() ? kEnd : i + 1});
    return symbols;
  }

  void merge(std::string_view word, std::vector<Token>& out) const {
    std::vector<Symbol> symbols = spell(word);
    std::vector<Candidate> first;
    for (std::uint32_t i = 0; i < symbols.size(); ++i)
      if (auto pair = candidate(symbols, i)) first.push_back(*pair);
    Candidates candidates(Later(), std::move(first));
    while (!candidates.empty()) {
      const Candidate best = candidates.top();
      candidates.pop();
      Symbol& left = symbols[best.at];
      if (left.token != best.left || left.after == kEnd || symbols[left.after].token != best.right)
        continue;  // outdated
      Symbol& right = symbols[left.after];
      left.token = best.merge.result;
      right.token = -1;
      left.after = right.after;
      if (left.after != kEnd) symbols[left.after].before = best.at;
      if (auto pair = candidate(symbols, left.before)) candidates.push(*pair);
      if (auto pair = candidate(symbols, best.at)) candidates.push(*pair);
    }
    for (std::uint32_t at = 0; at != kEnd; at = symbols[at].after) out.push_back(symbols[at].token);
  }

  const Vocabulary& vocabulary_;
  const PreTokenizer& pre_;
  std::vector<std::string> bytes_;
  std::array<Token, 256> byte_tokens_;
  std::unordered_map<std::uint64_t, Ranked, PairHash> merges_;
  std::unordered_map<std::string_view, Token> words_;  // only where the pre-tokeniser ignores merges
};

}  // namespace

std::unique_ptr<const Subword> make_bpe(const Vocabulary& vocabulary) { return std::make_unique<Bpe>(vocabulary); }

}  // namespace pgdlm
