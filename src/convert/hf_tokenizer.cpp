#include "convert/hf_tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "convert/hf_pretokenizer.h"
#include "convert/hf_vocab.h"
#include "gguf/mapped_file.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

enum TokenType : std::int64_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

struct Role {
  const char* key;  // of GGUF, with llama.cpp's spelling
  const char* hf;   // <hf>_token names it, <hf>_token_id is its id
};
constexpr std::array<Role, 7> kRoles = {{{"bos", "bos"},
                                         {"eos", "eos"},
                                         {"unknown", "unk"},
                                         {"seperator", "sep"},
                                         {"padding", "pad"},
                                         {"cls", "cls"},
                                         {"mask", "mask"}}};

// The small files about special tokens, any of which may be absent.
struct Notes {
  JsonFile config, tokenizer, map, generation;

  Notes(const fs::path& folder, const JsonFile& model_config)
      : config(model_config),
        tokenizer(JsonFile::if_there(folder / "tokenizer_config.json")),
        map(JsonFile::if_there(folder / "special_tokens_map.json")),
        generation(JsonFile::if_there(fs::path(model_config.path()).parent_path() / "generation_config.json")) {}

  // "<s>" or {"content": "<s>", ...}.
  std::optional<std::string> name(const Role& role) const {
    const std::string field = std::string(role.hf) + "_token";
    for (const JsonFile* file : {&tokenizer, &map}) {
      const auto found = file->json().find(field);
      if (found == file->json().end()) continue;
      if (found->is_string()) return found->get<std::string>();
      if (found->is_object() && found->contains("content") && (*found)["content"].is_string())
        return (*found)["content"].get<std::string>();
    }
    return std::nullopt;
  }
  // An id, or the first of several.
  std::optional<std::int64_t> id(const Role& role) const {
    const std::string field = std::string(role.hf) + "_token_id";
    for (const JsonFile* file : {&config, &generation}) {
      const auto found = file->json().find(field);
      if (found == file->json().end()) continue;
      const json& value = found->is_array() && !found->empty() ? found->front() : *found;
      if (value.is_number_integer()) return value.get<std::int64_t>();
    }
    return std::nullopt;
  }
};

// Pieces and types for every row, before any role is known.
void place_pieces(const HfVocab& vocab, std::int64_t rows, HfTokenizer& out) {
  out.pieces.resize(static_cast<std::size_t>(rows));
  out.types.assign(static_cast<std::size_t>(rows), kUnused);
  const auto place = [&](std::int64_t id, const std::string& text, TokenType type) {
    if (id >= rows)
      throw Error(ErrorCode::bad_model,
                  vocab.source + ": token '" + text + "' has id " + std::to_string(id) + ", but the model has " +
                      std::to_string(rows) + " embeddings",
                  "tokenizer and weights are of different models");
    out.pieces[static_cast<std::size_t>(id)] = text;
    out.types[static_cast<std::size_t>(id)] = type;
  };
  for (const auto& [id, text] : vocab.pieces) place(id, text, kNormal);
  for (const auto& [id, token] : vocab.added) place(id, token.text, token.special ? kControl : kUserDefined);
  for (std::size_t i = 0; i < out.pieces.size(); ++i)
    if (out.types[i] == kUnused) out.pieces[i] = "[PAD" + std::to_string(i) + "]";
}

constexpr const char* kMaskName = "<|mask|>";

void set_mask(const HfVocab& vocab, const JsonFile& config, const TokenizerRules& rules, HfTokenizer& out) {
  if (rules.mask) {
    if (*rules.mask < 0 || *rules.mask >= rules.rows)
      config.fail("the mask token is " + std::to_string(*rules.mask) + ", expected 0 to " +
                  std::to_string(rules.rows - 1));
    const auto at = static_cast<std::size_t>(*rules.mask);
    const auto padding = out.ids.find("padding");
    const bool shared = padding != out.ids.end() && padding->second == *rules.mask;
    // MDLM's mask is a row without a name, or one its data loader calls [PAD]: what is masked is not padding.
    if (out.types[at] == kUnused || shared) out.pieces[at] = kMaskName;
    if (shared) out.ids.erase(padding);
    out.types[at] = kControl;
    out.ids["mask"] = *rules.mask;
  }
  if (rules.needs_mask && !out.ids.contains("mask"))
    throw Error(ErrorCode::bad_model, vocab.source + ": no mask token, without which nothing can be denoised",
                "add mask_token_id to config.json");
}

void find_roles(const Notes& notes, const TokenizerRules& rules, HfTokenizer& out) {
  const auto type = [&](std::int64_t id) -> std::int64_t& { return out.types[static_cast<std::size_t>(id)]; };
  const auto assign_named = [&](const Role& role, const std::string& name) {
    const auto id = out.id_of(name);
    if (!id) return;
    type(*id) = kControl;
    out.ids.emplace(role.key, *id);
  };
  for (const Role& role : kRoles)
    if (const auto name = notes.name(role)) assign_named(role, *name);
  // A number may be left over from another model's config: it counts if it is no ordinary piece of text.
  for (const Role& role : kRoles) {
    const auto default_name = rules.names.find(role.hf);
    if (default_name != rules.names.end() && out.id_of(default_name->second))
      type(*out.id_of(default_name->second)) = kControl;
    const auto id = notes.id(role);
    if (id && *id >= 0 && *id < rules.rows && (type(*id) == kControl || type(*id) == kUserDefined))
      out.ids.emplace(role.key, *id);
    if (default_name != rules.names.end()) assign_named(role, default_name->second);
  }
  for (const char* end_of_turn : {"<|eot_id|>", "<|im_end|>"})
    if (const auto id = out.id_of(end_of_turn); id && type(*id) == kControl) out.ids.emplace("eot", *id);
}

// Whether a BPE vocabulary's text is composed first, which is all that may be done to it.
bool wants_nfc(const HfVocab& vocab, const json& normalizer) {
  if (normalizer.is_null()) return false;
  const json type = normalizer.is_object() ? normalizer.value("type", json()) : json();
  if (type == "NFC") return true;
  const auto steps = type == "Sequence" ? normalizer.find("normalizers") : normalizer.end();
  if (type != "Sequence" || steps == normalizer.end() || !steps->is_array())
    throw Error(ErrorCode::unsupported,
                vocab.source + ": normalizer is " + vocab.normalizer.dump() + ", supported for BPE: none, NFC");
  bool any = false;
  for (const json& step : *steps) any = wants_nfc(vocab, step) || any;
  return any;
}

// Whether words that are pieces skip the merges is part of a pre-tokeniser's name.
void check_ignore_merges(const HfVocab& vocab, const std::string& pre) {
  if (!vocab.ignore_merges || pre == "llama-bpe") return;
  throw Error(ErrorCode::unsupported,
              vocab.source + ": model.ignore_merges is true with the pre-tokeniser " + pre +
                  ", supported: false, or true with llama-bpe",
              "words would become other tokens than the model was trained on");
}

// A merge must join pieces there are to a piece there is; a truncated merges.txt or a wrong vocab.json shows here.
void check_merges(const HfVocab& vocab, const HfTokenizer& out) {
  const std::unordered_set<std::string_view> known(out.pieces.begin(), out.pieces.end());
  for (const std::string& merge : out.merges) {
    const std::size_t space = merge.find(' ', 1);
    const bool two =
        space != std::string::npos && space + 1 < merge.size() && merge.find(' ', space + 1) == std::string::npos;
    const std::string left = merge.substr(0, space), right = two ? merge.substr(space + 1) : "";
    if (!two || !known.contains(left) || !known.contains(right) || !known.contains(left + right))
      throw Error(ErrorCode::bad_model, vocab.source + ": merge '" + merge + "' does not join two pieces to a third",
                  "vocabulary and merges are of different models, or one of the files is damaged");
  }
}

void read_bpe(const HfVocab& vocab, const Notes& notes, const TokenizerRules& rules, HfTokenizer& out) {
  out.nfc = vocab.complete ? wants_nfc(vocab, vocab.normalizer) : rules.default_nfc;
  out.pre =
      vocab.complete ? recognise_pretokenizer(vocab.pre_tokenizer, rules.default_pre, vocab.source) : rules.default_pre;
  check_ignore_merges(vocab, out.pre);
  out.merges = vocab.merges;
  check_merges(vocab, out);
  out.add_bos = rules.add_bos ? rules.add_bos : notes.tokenizer.get<bool>("add_bos_token");
  out.add_eos = rules.add_eos ? rules.add_eos : notes.tokenizer.get<bool>("add_eos_token");
  if (out.add_bos == true && !out.ids.contains("bos")) out.add_bos = false;
  if (out.add_eos == true && !out.ids.contains("eos")) out.add_eos = false;
  const bool prefix = vocab.complete ? vocab.pre_tokenizer.dump().find("\"add_prefix_space\":true") != std::string::npos
                                     : notes.tokenizer.get_or<bool>({"add_prefix_space"}, false);
  if (prefix) out.add_space_prefix = true;
}

// llama.cpp's form: a piece that starts a word begins with U+2581, one that continues it has no "##".
void read_wordpiece(const HfVocab& vocab, const Notes& notes, HfTokenizer& out) {
  for (std::size_t i = 0; i < out.pieces.size(); ++i) {
    std::string& piece = out.pieces[i];
    if (out.types[i] == kControl) continue;
    piece = piece.starts_with("##") ? piece.substr(2) : "\u2581" + piece;
  }
  const json& normalizer = vocab.normalizer;
  const bool stated =
      normalizer.is_object() && normalizer.contains("lowercase") && normalizer["lowercase"].is_boolean();
  out.lowercase = stated           ? normalizer["lowercase"].get<bool>()
                  : vocab.complete ? normalizer.dump().find("\"Lowercase\"") != std::string::npos
                                   : notes.tokenizer.get_or<bool>({"do_lower_case"}, true);
  const auto strip = normalizer.is_object() ? normalizer.find("strip_accents") : normalizer.end();
  if (normalizer.is_object() && strip != normalizer.end() && strip->is_boolean())
    out.strip_accents = strip->get<bool>();
  else if (!vocab.complete)
    out.strip_accents = notes.tokenizer.get<bool>("strip_accents");
  for (const char* role : {"cls", "seperator", "unknown"})
    if (!out.ids.contains(role))
      throw Error(ErrorCode::bad_model, vocab.source + ": WordPiece without the tokens [CLS], [SEP] and [UNK]");
  out.ids.emplace("bos", out.ids.at("cls"));  // the name llama.cpp looks for
}

std::string read_chat_template(const fs::path& folder, const Notes& notes) {
  if (fs::exists(folder / "chat_template.jinja")) {
    const MappedFile file(folder / "chat_template.jinja");
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }
  const auto given = notes.tokenizer.json().find("chat_template");
  if (given == notes.tokenizer.json().end()) return "";
  if (given->is_string()) return given->get<std::string>();
  if (!given->is_array()) return "";
  for (const json& one : *given)  // several, by name
    if (one.is_object() && one.contains("name") && one["name"] == "default" && one.contains("template") &&
        one["template"].is_string())
      return one["template"].get<std::string>();
  return "";
}

}  // namespace

std::optional<std::int64_t> HfTokenizer::id_of(std::string_view piece) const {
  const auto found = std::find(pieces.begin(), pieces.end(), piece);
  if (found == pieces.end()) return std::nullopt;
  return found - pieces.begin();
}

HfTokenizer read_tokenizer(const fs::path& folder, const JsonFile& config, const TokenizerRules& rules) {
  const HfVocab vocab = read_vocab(folder, rules.absent_hint);
  const Notes notes(folder, config);
  HfTokenizer out;
  out.wordpiece = vocab.wordpiece;
  place_pieces(vocab, rules.rows, out);
  find_roles(notes, rules, out);
  set_mask(vocab, config, rules, out);
  if (out.wordpiece)
    read_wordpiece(vocab, notes, out);
  else
    read_bpe(vocab, notes, rules, out);
  out.chat_template = read_chat_template(folder, notes);
  return out;
}

void set_tokenizer_keys(const HfTokenizer& tokenizer, Plan& plan) {
  const std::string key = "tokenizer.ggml.";
  plan.set(key + "model", std::string(tokenizer.wordpiece ? "bert" : "gpt2"));
  if (!tokenizer.wordpiece) {
    plan.set(key + "pre", tokenizer.pre);
    plan.set(key + "merges", tokenizer.merges);
    if (tokenizer.nfc) plan.set(key + "normalizer.nfc", true);
  } else {
    plan.set(key + "lowercase", tokenizer.lowercase);
    plan.set(key + "normalizer.lowercase", tokenizer.lowercase);  // llama.cpp's name for it
    if (tokenizer.strip_accents) plan.set(key + "normalizer.strip_accents", *tokenizer.strip_accents);
  }
  plan.set(key + "tokens", tokenizer.pieces);
  plan.set(key + "token_type", tokenizer.types);
  for (const auto& [role, id] : tokenizer.ids) plan.set(key + role + "_token_id", id);
  if (tokenizer.add_bos) plan.set(key + "add_bos_token", *tokenizer.add_bos);
  if (tokenizer.add_eos) plan.set(key + "add_eos_token", *tokenizer.add_eos);
  if (tokenizer.add_space_prefix) plan.set(key + "add_space_prefix", *tokenizer.add_space_prefix);
  if (!tokenizer.chat_template.empty()) plan.set("tokenizer.chat_template", tokenizer.chat_template);
}

}  // namespace pgdlm
