#include "convert/torch_file.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "convert/pickle.h"
#include "convert/zip.h"
#include "gguf/byte_cursor.h"
#include "gguf/header.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleValue::Kind;

[[noreturn]] void fail(const std::string& path, const std::string& message, const std::string& hint = kDamagedHint) {
  throw Error(ErrorCode::bad_model, path + ": " + message, hint);
}

// ---- a state dict ----

// A tensor of a pickle, which it must not outlive.
struct Named {
  std::string_view name;
  const PickledTensor* tensor = nullptr;

  std::string text() const { return "tensor '" + std::string(name) + "'"; }
};

std::vector<Named> state_dict(const Pickle& pickle, const std::string& path) {
  const PickleValue& root = pickle.root();
  const auto refuse = [&](const std::string& expected, const PickleValue& got) {
    fail(path, expected + ", got " + kind_name(got.kind), kStateDictHint);
  };
  if (root.kind != Kind::dict) refuse("expected a dict of tensors", root);
  std::map<std::string_view, const PickledTensor*> by_name;  // as in Python, the last one of a name counts
  for (std::size_t i = 0; i < root.items.size(); i += 2) {
    const PickleValue& key = pickle.at(root.items[i]);
    const PickleValue& value = pickle.at(root.items[i + 1]);
    if (key.kind != Kind::text) refuse("expected names of tensors", key);
    if (value.kind != Kind::tensor) refuse("'" + std::string(key.text) + "': expected a tensor", value);
    by_name[key.text] = &pickle.tensor(value);
  }
  std::vector<Named> all;
  for (const auto& [name, tensor] : by_name) all.push_back({name, tensor});
  return all;
}

// ---- tensors in their storages ----

// Whether numbers lie one after the other if the dimensions are gone through in this order, the last one fastest. How
// far apart the steps of a dimension of size 1 are means nothing.
bool dense(const PickledTensor& tensor, bool backwards) {
  std::int64_t step = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::size_t d = backwards ? i : tensor.shape.size() - 1 - i;
    if (tensor.shape[d] != 1 && tensor.strides[d] != step) return false;
    step *= tensor.shape[d];
  }
  return true;
}

std::int64_t count_numbers(const Named& named, const std::string& path) {
  std::int64_t count = 1;
  for (const std::int64_t size : named.tensor->shape)
    if (__builtin_mul_overflow(count, size, &count))
      fail(path, named.text() + ": shape " + shape_text(named.tensor->shape) + " is too large");
  return count;
}

// Whether the last number of a tensor that has any is in its storage; none comes after it, as no stride is negative.
bool fits(const PickledTensor& tensor) {
  std::int64_t last = tensor.offset, way = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &way) ||
        __builtin_add_overflow(last, way, &last))
      return false;
  return last < tensor.storage_size;
}

HfTensor placed(const Named& named, Bytes storage, const std::string& path) {
  const PickledTensor& claim = *named.tensor;
  HfTensor tensor{.name = std::string(named.name),
                  .dtype = claim.type->dtype,
                  .dtype_name = std::string(claim.type->dtype_name),
                  .shape = claim.shape};
  const std::int64_t count = count_numbers(named, path), bytes = claim.type->bytes;
  if (count == 0) return tensor;
  if (!fits(claim))
    fail(path, named.text() + ": shape " + shape_text(claim.shape) + " with strides " + shape_text(claim.strides) +
                   " from number " + std::to_string(claim.offset) + " on does not fit into a storage of " +
                   std::to_string(claim.storage_size));
  const bool by_rows = dense(claim, false);
  tensor.by_columns = !by_rows && claim.shape.size() == 2 && dense(claim, true);
  if (by_rows || tensor.by_columns)
    tensor.bytes =
        storage.subspan(static_cast<std::size_t>(claim.offset * bytes), static_cast<std::size_t>(count * bytes));
  else
    tensor.odd_strides = claim.strides;
  return tensor;
}

// Bytes of the storage a tensor is in; it has as many as its pickle claims, and that is no overflow.
std::uint64_t storage_bytes(const PickledTensor& tensor, const std::string& path) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(tensor.storage_size, tensor.type->bytes, &bytes))
    fail(path, "storage '" + std::string(tensor.storage) + "' of " + std::to_string(tensor.storage_size) +
                   " numbers is too large");
  return static_cast<std::uint64_t>(bytes);
}

// ---- since PyTorch 1.6: NAME/data.pkl, and NAME/data/KEY for each storage ----

std::vector<HfTensor> parse_archive(Bytes file, const std::string& path) {
  const auto entries = read_zip(file, path);
  constexpr std::string_view kPickle = "/data.pkl";
  std::string folder;
  for (const auto& [name, content] : entries)
    if (name.ends_with(kPickle)) folder = name.substr(0, name.size() - kPickle.size());
  const auto pickled = entries.find(folder + std::string(kPickle));
  if (pickled == entries.end()) fail(path, "a zip archive without data.pkl, so not a PyTorch checkpoint", "");
  if (const auto order = entries.find(folder + "/byteorder"); order != entries.end()) {
    const std::string_view text(reinterpret_cast<const char*>(order->second.data()), order->second.size());
    if (text != "little") fail(path, "its byte order is not 'little'", "save it on another machine");
  }
  ByteCursor in(pickled->second, path);
  in.reading("data.pkl");
  std::vector<HfTensor> tensors;
  const Pickle pickle(in);
  for (const Named& named : state_dict(pickle, path)) {
    const std::string key(named.tensor->storage);
    const auto storage = entries.find(folder + "/data/" + key);
    const std::uint64_t expected = storage_bytes(*named.tensor, path);
    if (storage == entries.end()) fail(path, named.text() + ": its storage '" + key + "' is missing");
    if (storage->second.size() != expected)
      fail(path, named.text() + ": its storage has " + std::to_string(storage->second.size()) + " bytes, expected " +
                     std::to_string(expected));
    tensors.push_back(placed(named, storage->second, path));
  }
  return tensors;
}

// ---- before: magic number, version, machine, the dict, the keys of its storages, and these, each with its size ----

void check_machine(const Pickle& machine, const std::string& path) {
  if (machine.root().kind != Kind::dict) fail(path, "expected a description of the machine that wrote it");
  const std::vector<PickleRef>& items = machine.root().items;
  for (std::size_t i = 0; i < items.size(); i += 2)
    if (machine.at(items[i]).text == "little_endian" && machine.at(items[i + 1]).number != 1)
      fail(path, "written on a big-endian machine, expected little-endian", "save it on another machine");
}

std::map<std::string_view, Bytes> read_storages(ByteCursor& in, const std::vector<Named>& all,
                                                const std::string& path) {
  std::map<std::string_view, const PickledTensor*> claims;
  for (const Named& named : all) {
    const PickledTensor*& claim = claims[named.tensor->storage];
    if (claim == nullptr) claim = named.tensor;
    if (claim->type != named.tensor->type || claim->storage_size != named.tensor->storage_size)
      fail(path, named.text() + ": others say something else of its storage");
  }
  in.reading("keys of storages");
  const Pickle keys(in);
  if (keys.root().kind != Kind::list) fail(path, "expected a list of storages");
  std::map<std::string_view, Bytes> storages;
  for (const PickleRef ref : keys.root().items) {
    const std::string key(keys.at(ref).text);
    const auto claim = claims.find(key);
    if (claim == claims.end()) fail(path, "storage '" + key + "' belongs to no tensor");
    in.reading("storage '" + key + "'");
    const std::uint64_t bytes = storage_bytes(*claim->second, path);
    if (const auto count = in.number<std::int64_t>(); count != claim->second->storage_size)
      in.fail("has " + std::to_string(count) + " numbers, expected " + std::to_string(claim->second->storage_size),
              kDamagedHint);
    storages[claim->first] = in.take(bytes);
  }
  return storages;
}

// Whether the pickle is PyTorch's magic number, ten bytes from the lowest on.
bool is_magic(const Pickle& pickle) {
  return pickle.root().text == std::string_view("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
}

std::vector<HfTensor> parse_sequence(Bytes file, const std::string& path) {
  ByteCursor in(file, path);
  in.reading("magic number");
  if (!is_magic(Pickle(in))) fail(path, "a pickle, but not one of PyTorch's", "");
  in.reading("version");
  Pickle{in};
  in.reading("machine");
  check_machine(Pickle(in), path);
  in.reading("state dict");
  const Pickle pickle(in);
  const std::vector<Named> all = state_dict(pickle, path);
  const std::map<std::string_view, Bytes> storages = read_storages(in, all, path);
  std::vector<HfTensor> tensors;
  for (const Named& named : all) {
    const auto storage = storages.find(named.tensor->storage);
    if (storage == storages.end()) fail(path, named.text() + ": its storage is missing");
    tensors.push_back(placed(named, storage->second, path));
  }
  return tensors;
}

}  // namespace

std::vector<HfTensor> parse_torch(Bytes file, const std::string& path) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 4));
  if (start == "PK\x03\x04") return parse_archive(file, path);
  const std::string seems = file_lookalike(file);
  if (seems == kSafetensorsFile)  // which may begin as a pickle does
    fail(path, "not a PyTorch file but " + seems, "name it model.safetensors");
  if (start.starts_with('\x80')) return parse_sequence(file, path);
  fail(path, "not a PyTorch file" + (seems.empty() ? "" : " but " + seems), seems.empty() ? kDamagedHint : "");
}

}  // namespace pgdlm
