#include "text/vocabulary.h"

#include <array>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pgdlm/error.h"
#include "text/pretokenizer.h"

namespace pgdlm {
namespace {

using PieceIndex = std::unordered_map<std::string_view, Token>;

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kMerges = "tokenizer.ggml.merges";
constexpr std::size_t kMostPieces = std::size_t{1} << 24;  // ids stay far from the end of Token

[[noreturn]] void bad(const std::string& source, const std::string& what) {
  throw Error(ErrorCode::bad_model, fmt::format("{}: {}", source, what));
}

// Empty pieces are holes that nothing matches (llama.cpp's form of BERT's "##" is one), so they may repeat.
PieceIndex index_pieces(const std::string& source, std::span<const std::string> pieces) {
  PieceIndex index;
  index.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    const auto [found, fresh] = index.emplace(pieces[i], static_cast<Token>(i));
    if (!fresh)
      bad(source, fmt::format("{}: pieces must differ, got '{}' at {} and {}", kTokens, pieces[i], found->second, i));
  }
  return index;
}

Merge resolve(const std::string& source, const PieceIndex& index, std::string_view line, std::size_t number) {
  const auto complain = [&](std::string_view what) {
    bad(source, fmt::format("{}[{}] is '{}': {}", kMerges, number, line, what));
  };
  const std::size_t blank = line.find(' ', 1);
  if (blank == std::string_view::npos || blank + 1 == line.size()) complain("expected two pieces with a space between");
  const std::string_view left = line.substr(0, blank), right = line.substr(blank + 1);
  const std::string both = std::string(left).append(right);
  for (const std::string_view piece : {left, right, std::string_view(both)})
    if (!index.contains(piece)) complain(fmt::format("'{}' is not one of {}", piece, kTokens));
  return {index.at(left), index.at(right), index.at(both)};
}

std::vector<Merge> resolve_all(const std::string& source, const PieceIndex& index, std::span<const std::string> lines) {
  std::vector<Merge> merges;
  merges.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) merges.push_back(resolve(source, index, lines[i], i));
  return merges;
}

std::vector<TokenType> read_types(const Gguf& file, std::size_t pieces) {
  const auto numbers = file.get<std::vector<std::int64_t>>(kTypes);
  if (!numbers) return std::vector<TokenType>(pieces, TokenType::normal);
  if (numbers->size() != pieces)
    bad(file.path(),
        fmt::format("{}: expected {} entries, one for each of {}, got {}", kTypes, pieces, kTokens, numbers->size()));
  std::vector<TokenType> types;
  types.reserve(pieces);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::int64_t number = (*numbers)[i];
    if (number < 1 || number > 6) bad(file.path(), fmt::format("{}[{}]: expected 1 to 6, got {}", kTypes, i, number));
    types.push_back(static_cast<TokenType>(number));
  }
  return types;
}

// A special token: its key, and the names it goes by where converters leave the key out (LLaDA's and Dream's mask, the
// end of a turn, all of an old BERT file).
struct Special {
  std::string_view name;  // of the key tokenizer.ggml.<name>_token_id
  Token Vocabulary::*id;
  std::array<std::string_view, 4> pieces;
};

constexpr std::array<Special, 8> kSpecials = {{
    {"bos", &Vocabulary::bos, {}},
    {"eos", &Vocabulary::eos, {}},
    {"eot", &Vocabulary::eot, {"<|eot_id|>", "<|im_end|>"}},
    {"unknown", &Vocabulary::unk, {"[UNK]"}},
    {"seperator", &Vocabulary::sep, {"[SEP]"}},
    {"padding", &Vocabulary::pad, {"[PAD]"}},
    {"cls", &Vocabulary::cls, {"[CLS]"}},
    {"mask", &Vocabulary::mask, {"<|mdm_mask|>", "<|mask|>", "<mask>", "[MASK]"}},
}};

void read_specials(const Gguf& file, const PieceIndex& index, Vocabulary& v) {
  for (const Special& special : kSpecials) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", special.name);
    if (const auto id = file.get<std::int64_t>(key)) {
      if (*id < 0 || *id >= static_cast<std::int64_t>(v.pieces.size()))
        bad(file.path(), fmt::format("{}: expected 0 to {}, got {}", key, v.pieces.size() - 1, *id));
      v.*special.id = static_cast<Token>(*id);
      continue;
    }
    for (const std::string_view piece : special.pieces) {
      const auto found = index.find(piece);
      if (v.*special.id >= 0 || piece.empty() || found == index.end()) continue;
      const TokenType type = v.types[static_cast<std::size_t>(found->second)];
      if (type == TokenType::control || type == TokenType::unknown || type == TokenType::user_defined)
        v.*special.id = found->second;
    }
  }
}

const PreTokenizer& require_pretokenizer(const Vocabulary& v) {
  if (const PreTokenizer* pre = find_pretokenizer(v.pre)) return *pre;
  std::vector<std::string_view> names;
  for (const PreTokenizer& known : pretokenizers()) names.push_back(known.name);
  throw Error(ErrorCode::unsupported,
              fmt::format("{}: tokenizer.ggml.pre is '{}', supported: {}", v.source, v.pre, fmt::join(names, ", ")),
              "another pre-tokeniser would cut text into other tokens than the model was trained on; convert the model "
              "with one of these names if it means the same");
}

void require_model(const Vocabulary& v) {
  if (v.model == "gpt2" || v.model == "bert") return;
  throw Error(ErrorCode::unsupported,
              fmt::format("{}: tokenizer.ggml.model is '{}', supported: gpt2, bert", v.source, v.model));
}

void read_bpe(const Gguf& file, const PieceIndex& index, Vocabulary& v) {
  const PreTokenizer& pre = require_pretokenizer(v);
  v.merges = resolve_all(v.source, index, file.require<std::vector<std::string>>(kMerges));
  v.add_bos = file.get<bool>("tokenizer.ggml.add_bos_token").value_or(pre.add_bos);
  v.add_eos = file.get<bool>("tokenizer.ggml.add_eos_token").value_or(pre.add_eos);
  v.nfc = file.get<bool>("tokenizer.ggml.normalizer.nfc").value_or(false);
  v.add_space_prefix = file.get<bool>("tokenizer.ggml.add_space_prefix").value_or(false);
  if (v.add_bos && v.bos < 0) v.bos = v.cls;  // RoBERTa's <s> and </s> go by both names
  if (v.add_eos && v.eos < 0) v.eos = v.sep;
}

// Ours is `lowercase`; llama.cpp has meanwhile got a pair of its own.
void read_wordpiece(const Gguf& file, Vocabulary& v) {
  v.add_bos = v.add_eos = true;
  const bool theirs = file.get<bool>("tokenizer.ggml.normalizer.lowercase").value_or(true);
  v.lowercase = file.get<bool>("tokenizer.ggml.lowercase").value_or(theirs);
  v.strip_accents = file.get<bool>("tokenizer.ggml.normalizer.strip_accents").value_or(v.lowercase);
  if (v.cls < 0) v.cls = v.bos;
}

}  // namespace

Vocabulary read_vocabulary(const Gguf& file) {
  Vocabulary v;
  v.source = file.path();
  v.model = file.require<std::string>("tokenizer.ggml.model");
  require_model(v);
  v.pre = file.get<std::string>("tokenizer.ggml.pre").value_or("");
  v.pieces = file.require<std::vector<std::string>>(kTokens);
  if (v.pieces.empty() || v.pieces.size() > kMostPieces)
    bad(v.source, fmt::format("{}: expected 1 to {} pieces, got {}", kTokens, kMostPieces, v.pieces.size()));
  v.types = read_types(file, v.pieces.size());
  const PieceIndex index = index_pieces(v.source, v.pieces);
  read_specials(file, index, v);
  if (v.model == "gpt2")
    read_bpe(file, index, v);
  else
    read_wordpiece(file, v);
  v.chat_template = file.get<std::string>("tokenizer.chat_template").value_or("");
  check(v);
  return v;
}

std::vector<Merge> resolve_merges(const std::string& source, std::span<const std::string> pieces,
                                  std::span<const std::string> lines) {
  return resolve_all(source, index_pieces(source, pieces), lines);
}

void check(const Vocabulary& v) {
  require_model(v);
  if (v.pieces.empty() || v.pieces.size() > kMostPieces)
    bad(v.source, fmt::format("expected 1 to {} pieces, got {}", kMostPieces, v.pieces.size()));
  if (v.types.size() != v.pieces.size())
    bad(v.source, fmt::format("expected a type for each of {} pieces, got {}", v.pieces.size(), v.types.size()));
  const auto known = [&](Token id) { return id >= 0 && id < static_cast<Token>(v.pieces.size()); };
  for (const Special& special : kSpecials)
    if (v.*special.id != -1 && !known(v.*special.id))
      bad(v.source,
          fmt::format("{} token: expected -1 to {}, got {}", special.name, v.pieces.size() - 1, v.*special.id));
  for (const Merge& merge : v.merges)
    if (!known(merge.left) || !known(merge.right) || !known(merge.result))
      bad(v.source, fmt::format("merge of {} and {} to {}: no such pieces", merge.left, merge.right, merge.result));

  if (v.model == "bert") {
    if (v.cls < 0 || v.sep < 0 || v.unk < 0)
      bad(v.source, "WordPiece needs tokenizer.ggml.cls_token_id, .seperator_token_id and .unknown_token_id");
    return;
  }
  require_pretokenizer(v);
  if (v.add_bos && v.bos < 0)
    bad(v.source, "tokenizer.ggml.add_bos_token is true, but there is no tokenizer.ggml.bos_token_id");
  if (v.add_eos && v.eos < 0)
    bad(v.source, "tokenizer.ggml.add_eos_token is true, but there is no tokenizer.ggml.eos_token_id");
}

}  // namespace pgdlm
