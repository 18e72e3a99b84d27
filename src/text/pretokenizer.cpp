#include "text/pretokenizer.h"

#include <array>

#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

constexpr PreTokenizer gpt2(std::string_view name) { return {name, SplitRule::gpt2}; }
constexpr PreTokenizer roberta(std::string_view name) { return {name, SplitRule::gpt2, false, true, true, true}; }
constexpr PreTokenizer qwen2(std::string_view name) { return {name, SplitRule::qwen2}; }
constexpr PreTokenizer llama3(std::string_view name) { return {name, SplitRule::llama3, true, true}; }

// LLaDA's vocabulary is that of the Bailing (Ling) models. Their regex is spelt otherwise ('(?i:[sdmt]|ll|ve|re),
// possessive quantifiers, \s*[\r\n] for \s*[\r\n]+) and matches exactly what qwen2's does: letters after an apostrophe
// are the same, what the quantifiers hold on to could not match elsewhere, and greedy \s* runs to the last line break.
constexpr std::array kPreTokenizers = {
    gpt2("gpt-2"),
    gpt2("phi-2"),
    gpt2("mpt"),
    gpt2("olmo"),
    gpt2("modern-bert"),
    roberta("roberta-bpe"),
    roberta("jina-v1-en"),
    roberta("jina-v2-code"),
    qwen2("qwen2"),
    qwen2("deepseek-r1-qwen"),
    qwen2("megrez"),
    qwen2("stablelm2"),
    qwen2("hunyuan"),
    qwen2("bailingmoe"),
    qwen2("bailingmoe2"),
    qwen2("llada-moe"),
    llama3("llama-bpe"),
    llama3("llama3"),
    llama3("llama-v3"),
    llama3("falcon3"),
    PreTokenizer{"dbrx", SplitRule::llama3},
    PreTokenizer{"smaug-bpe", SplitRule::llama3},
};

struct Char {
  char32_t code = 0;
  CharClass kind = CharClass::other;
  std::size_t offset = 0;
};

std::vector<Char> read_chars(std::string_view text) {
  std::vector<Char> chars;
  chars.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = read_utf8(text.substr(at));
    if (step.kind == Utf8Step::kCharacter) {
      chars.push_back({step.code, char_class(step.code), at});
      at += step.length;
    } else {
      chars.push_back({0xFFFD, CharClass::other, at});  // byte by byte
      ++at;
    }
  }
  return chars;
}

// One cursor over a text. Each alternative of a regex is a function of the place where it starts, that returns the
// place where it ends: the same place if it does not match.
class Splitter {
 public:
  Splitter(SplitRule rule, std::string_view text) : rule_(rule), chars_(read_chars(text)) {}

  std::size_t word_end(std::size_t at) const { return rule_ == SplitRule::gpt2 ? gpt2_end(at) : qwen2_end(at); }
  std::size_t size() const { return chars_.size(); }
  std::size_t offset(std::size_t at) const { return chars_[at].offset; }

 private:
  bool has(std::size_t at, CharClass kind) const { return at < chars_.size() && chars_[at].kind == kind; }
  bool has(std::size_t at, char32_t code) const { return at < chars_.size() && chars_[at].code == code; }
  bool line_break(std::size_t at) const { return has(at, U'\n') || has(at, U'\r'); }

  std::size_t run(std::size_t at, CharClass kind) const {
    while (has(at, kind)) ++at;
    return at;
  }

  // The letter after an apostrophe, lower case where the rule ignores case. (?i) knows the long s, too.
  char32_t suffix_letter(std::size_t at) const {
    if (at >= chars_.size()) return 0;
    const char32_t code = chars_[at].code;
    if (rule_ == SplitRule::gpt2) return code;
    if (code == 0x17F) return U's';
    return code >= U'A' && code <= U'Z' ? code + 32 : code;
  }

  std::size_t contraction(std::size_t at) const {
    if (!has(at, U'\'')) return at;
    const char32_t first = suffix_letter(at + 1), second = suffix_letter(at + 2);
    if (first == U's' || first == U't' || first == U'm' || first == U'd') return at + 2;
    if ((first == U'r' && second == U'e') || (first == U'v' && second == U'e') || (first == U'l' && second == U'l'))
      return at + 3;
    return at;
  }

  // \s+(?!\S)|\s+: all blanks at the end of the text, otherwise all but the one that belongs to the next word.
  std::size_t blanks(std::size_t at) const {
    const std::size_t end = run(at, CharClass::space);
    return end == chars_.size() || end - at < 2 ? end : end - 1;
  }

  std::size_t gpt2_end(std::size_t at) const {
    if (const std::size_t end = contraction(at); end > at) return end;
    const std::size_t start = has(at, U' ') ? at + 1 : at;
    for (const CharClass kind : {CharClass::letter, CharClass::number, CharClass::other})
      if (has(start, kind)) return run(start, kind);
    return blanks(at);
  }

  std::size_t qwen2_end(std::size_t at) const {
    if (const std::size_t end = contraction(at); end > at) return end;
    if (has(at, CharClass::letter)) return run(at, CharClass::letter);
    if (has(at, CharClass::number)) {
      const std::size_t most = at + (rule_ == SplitRule::llama3 ? 3 : 1);
      std::size_t end = at + 1;
      while (end < most && has(end, CharClass::number)) ++end;
      return end;
    }
    if (!line_break(at) && has(at + 1, CharClass::letter)) return run(at + 1, CharClass::letter);
    const std::size_t start = has(at, U' ') ? at + 1 : at;
    if (has(start, CharClass::other)) {
      std::size_t end = run(start, CharClass::other);
      while (line_break(end)) ++end;
      return end;
    }
    // \s*[\r\n]+ runs to the last line break among the blanks.
    for (std::size_t end = run(at, CharClass::space); end > at; --end)
      if (line_break(end - 1)) return end;
    return blanks(at);
  }

  SplitRule rule_;
  std::vector<Char> chars_;
};

}  // namespace

std::span<const PreTokenizer> pretokenizers() { return kPreTokenizers; }

const PreTokenizer* find_pretokenizer(std::string_view name) {
  for (const PreTokenizer& pre : kPreTokenizers)
    if (pre.name == name) return &pre;
  return nullptr;
}

std::vector<std::string_view> split_words(SplitRule rule, std::string_view text) {
  const Splitter splitter(rule, text);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < splitter.size();) {
    const std::size_t begin = splitter.offset(at);
    at = splitter.word_end(at);
    words.push_back(text.substr(begin, (at < splitter.size() ? splitter.offset(at) : text.size()) - begin));
  }
  return words;
}

}  // namespace pgdlm
