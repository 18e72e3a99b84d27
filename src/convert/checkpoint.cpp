#include "convert/checkpoint.h"

#include <algorithm>
#include <array>

#include "convert/json_file.h"
#include "convert/safetensors.h"
#include "convert/torch_file.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char *single, *index;
  TensorParser parse;
};
constexpr std::array<Format, 2> kFormats = {{
    {"model.safetensors", "model.safetensors.index.json", parse_safetensors},
    {"pytorch_model.bin", "pytorch_model.bin.index.json", parse_torch},
}};

[[noreturn]] void nothing_to_read(const fs::path& folder) {
  for (const char* other : {"tf_model.h5", "flax_model.msgpack", "consolidated.safetensors"})
    if (fs::exists(folder / other))
      throw Error(ErrorCode::unsupported,
                  "folder '" + folder.string() + "' has its weights in " + other +
                      ", supported: model.safetensors or pytorch_model.bin",
                  "download these, or load the model with transformers and save_pretrained() it");
  throw Error(ErrorCode::invalid_request,
              "folder '" + folder.string() +
                  "' has neither model.safetensors nor pytorch_model.bin, nor the index.json of either",
              "give the folder that config.json and the weights are in");
}

// A shard is a plain name beside the index: an index must not make us read elsewhere.
bool plain(const std::string& name) { return !name.empty() && fs::path(name).filename() == name && name != ".."; }

// What an index says: tensor -> file.
std::map<std::string, std::string> read_index(const JsonFile& file) {
  const auto map = file.json().find("weight_map");
  if (map == file.json().end() || !map->is_object()) file.fail("weight_map: expected an object of tensor: file");
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !plain(shard.get<std::string>()))
      file.fail("weight_map: tensor '" + tensor + "': expected the name of a file in the same folder, got " +
                shard.dump());
    shard_of.emplace(tensor, shard.get<std::string>());
  }
  return shard_of;
}

bool complete(const fs::path& folder, const fs::path& index) {
  const auto shard_of = read_index(JsonFile(index));
  return std::all_of(shard_of.begin(), shard_of.end(), [&](const auto& t) { return fs::exists(folder / t.second); });
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& folder) {
  // An index may be left over, its shards gone or never fetched, beside the whole model in the other format. It is
  // opened only if there is nothing better, to say which file is missing.
  for (const bool must_be_complete : {true, false})
    for (const Format& format : kFormats) {
      const fs::path single = folder / format.single, index = folder / format.index;
      if (fs::exists(single))
        open_single(single, format.parse);
      else if (fs::exists(index) && (!must_be_complete || complete(folder, index)))
        open_sharded(folder, index, format.parse);
      else
        continue;
      return;
    }
  nothing_to_read(folder);
}

void Checkpoint::open_single(const fs::path& file, TensorParser parse) {
  path_ = file.string();
  files_.push_back(std::make_unique<TensorFile>(file, parse));
  for (const HfTensor& tensor : files_.back()->tensors()) tensors_.emplace(tensor.name, &tensor);
}

void Checkpoint::open_sharded(const fs::path& folder, const fs::path& index, TensorParser parse) {
  path_ = index.string();
  const JsonFile file(index);
  const std::map<std::string, std::string> shard_of = read_index(file);
  std::map<std::string, bool> opened;
  for (const auto& [tensor, shard] : shard_of) {
    if (!opened.emplace(shard, true).second) continue;
    if (!fs::exists(folder / shard))
      throw Error(ErrorCode::invalid_request,
                  path_ + ": tensor '" + tensor + "' is said to be in '" + shard + "', which is not in the folder",
                  "download all files of the model");
    files_.push_back(std::make_unique<TensorFile>(folder / shard, parse));
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
