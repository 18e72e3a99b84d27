#include "text/tokenizer.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"
#include "text/pretokenizer.h"
#include "text/special_tokens.h"
#include "text/subword.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

std::string_view without_blanks_at_end(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) < 0x80 &&
         is_space(static_cast<char32_t>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::string printable(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const Utf8Step step = read_utf8(bytes);
    const std::string_view here = bytes.substr(0, step.length);
    bytes.remove_prefix(step.length);
    if (here == "\n") {
      out += "\\n";
    } else if (here == "\t") {
      out += "\\t";
    } else if (here == "\r") {
      out += "\\r";
    } else if (here == "\\") {
      out += "\\\\";
    } else if (step.kind == Utf8Step::kCharacter && !is_control(step.code)) {
      out += here;
    } else {
      for (const char byte : here) out += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::make(Vocabulary vocabulary) {
  check(vocabulary);
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(vocabulary)));
}

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)), specials_(std::make_unique<SpecialTokens>(vocabulary_)) {
  if (vocabulary_.model == "bert") {
    subword_ = make_wordpiece(vocabulary_);
    first_ = vocabulary_.cls;
    last_ = vocabulary_.sep;
    return;
  }
  subword_ = make_bpe(vocabulary_);
  if (vocabulary_.add_bos) first_ = vocabulary_.bos;
  if (vocabulary_.add_eos) last_ = vocabulary_.eos;
  if (find_pretokenizer(vocabulary_.pre)->mask_strips) strips_blanks_before_ = vocabulary_.mask;
}

Tokenizer::~Tokenizer() = default;

std::vector<Token> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<Token> tokens;
  if (options.add_special && first_ >= 0) tokens.push_back(first_);
  for (std::size_t at = 0; at < text.size();) {
    const auto special = specials_->find(text, at, options.parse_special);
    std::string_view plain = text.substr(at, special ? special->at - at : text.size() - at);
    if (special && special->token == strips_blanks_before_) plain = without_blanks_at_end(plain);
    subword_->encode(plain, tokens);
    if (!special) break;
    tokens.push_back(special->token);
    at = special->at + special->length;
  }
  if (options.add_special && last_ >= 0) tokens.push_back(last_);
  return tokens;
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool keep_special) const {
  std::string text;
  for (const Token token : tokens) append(text, token, keep_special);
  return text;
}

void Tokenizer::append(std::string& text, Token token, bool keep_special) const {
  if (is_control(token) && !keep_special) return;
  const std::string bytes = piece(token);
  text += subword_->joins(text, bytes) ? std::string_view(bytes).substr(1) : std::string_view(bytes);
}

std::string Tokenizer::piece(Token token) const {
  const std::size_t i = index(token);
  if (!named(i)) return subword_->bytes(token);
  // Between words, which is where [MASK] stands.
  return vocabulary_.model == "bert" ? " " + vocabulary_.pieces[i] : vocabulary_.pieces[i];
}

std::string Tokenizer::display(Token token) const {
  const std::string bytes = piece(token);
  if (vocabulary_.model != "bert") return printable(bytes);
  return bytes.starts_with(' ') ? printable(bytes.substr(1)) : "##" + printable(bytes);
}

bool Tokenizer::is_control(Token token) const {
  const TokenType type = vocabulary_.types[index(token)];
  return type == TokenType::control || type == TokenType::unknown;
}

Token Tokenizer::special(std::string_view name) const { return specials_->named(name); }

std::size_t Tokenizer::index(Token token) const {
  if (token < 0 || token >= size())
    throw Error(ErrorCode::invalid_request,
                fmt::format("token {} is not in {}, allowed: 0 to {}", token, vocabulary_.source, size() - 1));
  return static_cast<std::size_t>(token);
}

bool Tokenizer::named(std::size_t index) const { return vocabulary_.types[index] != TokenType::normal; }

}  // namespace pgdlm
