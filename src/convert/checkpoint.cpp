#include "convert/checkpoint.h"

#include "convert/json_file.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// The Python class that loads the whole model, head included: the one config.json names, or for a model that brings its
// own code the Auto class that leads to it.
std::string python_class(const JsonFile& config, bool& own_code) {
  const auto named = config.json().find("architectures");
  const bool usable =
      named != config.json().end() && named->is_array() && !named->empty() && named->front().is_string();
  const std::string name = usable ? named->front().get<std::string>() : "AutoModel";
  const auto map = config.json().find("auto_map");
  own_code = map != config.json().end() && map->is_object();
  if (!own_code) return name;
  for (const auto& [automatic, where] : map->items())
    if (where.is_string() && where.get<std::string>().ends_with("." + name)) return automatic;
  return name;
}

std::string pickle_hint(const fs::path& folder) {
  bool own_code = false;
  const std::string name = python_class(JsonFile::if_there(folder / "config.json"), own_code);
  const fs::path itself = folder.has_filename() ? folder : folder.parent_path();  // without a slash at its end
  const std::string target = itself.string() + "-safetensors";
  return "make it with Python: from transformers import " + name + " as M; M.from_pretrained('" + itself.string() +
         "'" + (own_code ? ", trust_remote_code=True" : "") + ").save_pretrained('" + target +
         "', safe_serialization=True)\nthen copy the tokenizer files (tokenizer*.json, vocab.*, merges.txt, "
         "special_tokens_map.json) to '" +
         target + "' and convert that folder";
}

[[noreturn]] void nothing_to_read(const fs::path& folder) {
  const bool pickled = fs::exists(folder / "pytorch_model.bin") || fs::exists(folder / "pytorch_model.bin.index.json");
  throw Error(ErrorCode::invalid_request,
              "folder '" + folder.string() + "' has neither " + kSingle + " nor " + kIndex +
                  (pickled ? ", only pytorch_model.bin" : ""),
              pickled ? pickle_hint(folder) : "give the folder that config.json and the weights are in");
}

// A shard is a plain name beside the index: an index must not make us read elsewhere.
bool plain(const std::string& name) { return !name.empty() && fs::path(name).filename() == name && name != ".."; }

}  // namespace

Checkpoint::Checkpoint(const fs::path& folder) {
  if (fs::exists(folder / kSingle))
    open_single(folder / kSingle);
  else if (fs::exists(folder / kIndex))
    open_sharded(folder, folder / kIndex);
  else
    nothing_to_read(folder);
}

void Checkpoint::open_single(const fs::path& file) {
  path_ = file.string();
  files_.push_back(std::make_unique<Safetensors>(file));
  for (const HfTensor& tensor : files_.back()->tensors()) tensors_.emplace(tensor.name, &tensor);
}

void Checkpoint::open_sharded(const fs::path& folder, const fs::path& index) {
  path_ = index.string();
  const JsonFile file(index);
  const auto map = file.json().find("weight_map");
  if (map == file.json().end() || !map->is_object()) file.fail("weight_map: expected an object of tensor: file");
  std::map<std::string, std::string> shard_of;  // tensor -> file
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !plain(shard.get<std::string>()))
      file.fail("weight_map: tensor '" + tensor + "': expected the name of a file in the same folder, got " +
                shard.dump());
    shard_of.emplace(tensor, shard.get<std::string>());
  }
  std::map<std::string, bool> opened;
  for (const auto& [tensor, shard] : shard_of) {
    if (!opened.emplace(shard, true).second) continue;
    if (!fs::exists(folder / shard))
      throw Error(ErrorCode::invalid_request,
                  path_ + ": tensor '" + tensor + "' is said to be in '" + shard + "', which is not in the folder",
                  "download all files of the model");
    files_.push_back(std::make_unique<Safetensors>(folder / shard));
    for (const HfTensor& found : files_.back()->tensors()) {
      const auto claimed = shard_of.find(found.name);
      if (claimed == shard_of.end() || claimed->second != shard)
        file.fail("tensor '" + found.name + "' is in '" + shard + "', but the index " +
                  (claimed == shard_of.end() ? "does not know it" : "says '" + claimed->second + "'"));
      tensors_.emplace(found.name, &found);
    }
  }
  for (const auto& [tensor, shard] : shard_of)
    if (!tensors_.contains(tensor))
      file.fail("tensor '" + tensor + "' is said to be in '" + shard + "', but it is not");
}

}  // namespace pgdlm
