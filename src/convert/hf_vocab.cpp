#include "convert/hf_vocab.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "convert/json_file.h"
#include "gguf/mapped_file.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kAbsentHint = "download the tokenizer files too, or say where they are with --tokenizer DIR";
constexpr std::int64_t kLargestId = (std::int64_t{1} << 24) - 1;

std::int64_t checked_id(const JsonFile& file, const std::string& token, const json& id) {
  if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > kLargestId)
    file.fail("token '" + token + "': expected an id from 0 to " + std::to_string(kLargestId) + ", got " + id.dump());
  return id.get<std::int64_t>();
}

void read_pieces(const JsonFile& file, const json& vocab, HfVocab& out) {
  if (!vocab.is_object()) file.fail(std::string("expected an object of piece: id, got ") + vocab.type_name());
  for (const auto& [piece, id] : vocab.items()) {
    const auto [known, fresh] = out.pieces.emplace(checked_id(file, piece, id), piece);
    if (!fresh) file.fail("pieces '" + known->second + "' and '" + piece + "' have the same id " + id.dump());
  }
}

std::vector<std::string> lines_of(const fs::path& path) {
  const MappedFile file(path);
  std::string_view left(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<std::string> lines;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    std::string_view line = left.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return lines;
}

// ---- added tokens outside tokenizer.json ----

// added_tokens.json and tokenizer_config.json's added_tokens_decoder; the latter knows which are special.
std::map<std::int64_t, AddedToken> read_old_added(const fs::path& folder) {
  std::map<std::int64_t, AddedToken> out;
  const JsonFile names = JsonFile::if_there(folder / "added_tokens.json");
  for (const auto& [text, id] : names.json().items()) {
    const bool looks_special = text.starts_with('<') && text.ends_with('>');
    out[checked_id(names, text, id)] = {text, looks_special};
  }
  const JsonFile config = JsonFile::if_there(folder / "tokenizer_config.json");
  const auto decoder = config.json().find("added_tokens_decoder");
  if (decoder == config.json().end() || !decoder->is_object()) return out;
  for (const auto& [number, token] : decoder->items()) {
    const bool sound = !number.empty() && number.size() < 9 &&
                       number.find_first_not_of("0123456789") == std::string::npos && token.is_object() &&
                       token.contains("content") && token["content"].is_string();
    if (!sound)
      config.fail("added_tokens_decoder: expected id: {content, special}, got " + number + ": " + token.dump());
    out[std::stoll(number)] = {token["content"].get<std::string>(),
                               token.contains("special") && token["special"] == true};
  }
  return out;
}

// A tokenizer.json may lack tokens that the files beside it name, which Hugging Face adds on loading (<extra_0> of
// Qwen2.5-Math-PRM). Where both speak of an id or a text, tokenizer.json is right.
void add_forgotten(const fs::path& folder, HfVocab& out) {
  std::set<std::string, std::less<>> known;
  for (const auto& [id, piece] : out.pieces) known.insert(piece);
  for (const auto& [id, token] : out.added) known.insert(token.text);
  for (const auto& [id, token] : read_old_added(folder))
    if (!out.pieces.contains(id) && known.insert(token.text).second) out.added.emplace(id, token);
}

// ---- tokenizer.json ----

// "a b", or since tokenizers 0.20 ["a", "b"]. A byte-level piece has no spaces in it.
std::string read_merge(const JsonFile& file, const json& merge) {
  if (merge.is_string()) return merge.get<std::string>();
  const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
  if (!pair) file.fail("model.merges: expected \"left right\" or [\"left\", \"right\"], got " + merge.dump());
  const auto left = merge[0].get<std::string>(), right = merge[1].get<std::string>();
  if (left.find(' ') != std::string::npos || right.find(' ') != std::string::npos)
    throw Error(ErrorCode::unsupported, file.path() + ": model.merges: " + merge.dump() + " has a space inside a piece",
                "pgdlm reads byte-level BPE, which writes spaces as '\u0120'");
  return left + " " + right;
}

void read_bpe(const JsonFile& file, const json& model, HfVocab& out) {
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const auto affix = model.find(name); affix != model.end() && !affix->is_null() && *affix != "")
      throw Error(ErrorCode::unsupported,
                  file.path() + ": model." + name + " is " + affix->dump() + ", supported: none");
  if (const auto fallback = model.find("byte_fallback"); fallback != model.end() && *fallback == true)
    throw Error(ErrorCode::unsupported, file.path() +
                                            ": a SentencePiece vocabulary (byte_fallback), supported: "
                                            "byte-level BPE and WordPiece");
  const auto ignore = model.find("ignore_merges");
  out.ignore_merges = ignore != model.end() && *ignore == true;
  const auto merges = model.find("merges");
  if (merges == model.end() || !merges->is_array()) file.fail("model.merges is missing");
  for (const json& merge : *merges) out.merges.push_back(read_merge(file, merge));
}

void read_added(const JsonFile& file, HfVocab& out) {
  const auto added = file.json().find("added_tokens");
  if (added == file.json().end() || added->is_null()) return;
  if (!added->is_array()) file.fail("added_tokens: expected an array");
  for (const json& token : *added) {
    const bool sound =
        token.is_object() && token.contains("id") && token.contains("content") && token["content"].is_string();
    if (!sound) file.fail("added_tokens: expected objects with id and content, got " + token.dump());
    const auto text = token["content"].get<std::string>();
    out.added[checked_id(file, text, token["id"])] = {text, token.contains("special") && token["special"] == true};
  }
}

HfVocab read_tokenizer_json(const fs::path& folder) {
  const JsonFile file(folder / "tokenizer.json");
  HfVocab out{.source = file.path(), .complete = true};
  const auto model = file.json().find("model");
  if (model == file.json().end() || !model->is_object()) file.fail("model is missing");
  const auto type = model->find("type");
  const std::string named = type != model->end() && type->is_string() ? type->get<std::string>()
                            : model->contains("merges")               ? "BPE"
                                                                      : "WordPiece";  // old files do not say
  if (named != "BPE" && named != "WordPiece")
    throw Error(ErrorCode::unsupported, file.path() + ": model.type is '" + named + "', supported: BPE, WordPiece");
  out.wordpiece = named == "WordPiece";
  const auto vocab = model->find("vocab");
  if (vocab == model->end()) file.fail("model.vocab is missing");
  read_pieces(file, *vocab, out);
  if (!out.wordpiece) read_bpe(file, *model, out);
  if (const auto prefix = model->find("continuing_subword_prefix");
      out.wordpiece && prefix != model->end() && *prefix != "##")
    throw Error(ErrorCode::unsupported,
                file.path() + ": model.continuing_subword_prefix is " + prefix->dump() + ", supported: \"##\"");
  read_added(file, out);
  add_forgotten(folder, out);
  if (const auto pre = file.json().find("pre_tokenizer"); pre != file.json().end()) out.pre_tokenizer = *pre;
  if (const auto norm = file.json().find("normalizer"); norm != file.json().end()) out.normalizer = *norm;
  return out;
}

// ---- the older files ----

HfVocab read_vocab_json(const fs::path& folder) {
  const JsonFile file(folder / "vocab.json");
  HfVocab out{.source = file.path()};
  read_pieces(file, file.json(), out);
  if (!fs::exists(folder / "merges.txt"))
    throw Error(ErrorCode::invalid_request, file.path() + ": there is no merges.txt beside it",
                "download all files of the tokenizer");
  bool first = true;
  for (const std::string& line : lines_of(folder / "merges.txt")) {
    const bool comment = first && line.starts_with("#version");  // later lines may be merges of '#'
    first = false;
    if (!comment && !line.empty()) out.merges.push_back(line);
  }
  if (out.merges.empty())
    throw Error(ErrorCode::bad_model, (folder / "merges.txt").string() + ": expected a merge per line, got none",
                "the file is damaged or was not downloaded to its end");
  out.added = read_old_added(folder);
  return out;
}

HfVocab read_vocab_txt(const fs::path& folder) {
  HfVocab out{.source = (folder / "vocab.txt").string(), .wordpiece = true};
  std::int64_t id = 0;
  for (std::string& line : lines_of(folder / "vocab.txt")) out.pieces.emplace(id++, std::move(line));
  out.added = read_old_added(folder);
  return out;
}

}  // namespace

HfVocab read_vocab(const fs::path& folder, const std::string& hint) {
  if (fs::exists(folder / "tokenizer.json")) return read_tokenizer_json(folder);
  if (fs::exists(folder / "vocab.json")) return read_vocab_json(folder);
  if (fs::exists(folder / "vocab.txt")) return read_vocab_txt(folder);
  throw Error(ErrorCode::invalid_request,
              "folder '" + folder.string() +
                  "' has no tokenizer: neither tokenizer.json, nor vocab.json and merges.txt, "
                  "nor vocab.txt",
              hint.empty() ? kAbsentHint : hint);
}

}  // namespace pgdlm
