#include "convert/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gguf/byte_cursor.h"
#include "gguf/header.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;

// A header of 16 MB describes some 100,000 tensors; a longer one is not a model.
constexpr std::uint64_t kLongestHeader = std::uint64_t{16} << 20;

struct DtypeInfo {
  std::string_view name;
  std::uint64_t bytes;
  Dtype dtype;
};
constexpr std::array<DtypeInfo, 16> kDtypes = {{
    {"F32", 4, Dtype::f32},
    {"F16", 2, Dtype::f16},
    {"BF16", 2, Dtype::bf16},
    {"F64", 8, Dtype::f64},
    {"I64", 8, Dtype::other},
    {"I32", 4, Dtype::other},
    {"I16", 2, Dtype::other},
    {"I8", 1, Dtype::other},
    {"U64", 8, Dtype::other},
    {"U32", 4, Dtype::other},
    {"U16", 2, Dtype::other},
    {"U8", 1, Dtype::other},
    {"BOOL", 1, Dtype::other},
    {"F8_E4M3", 1, Dtype::other},
    {"F8_E5M2", 1, Dtype::other},
    {"C64", 8, Dtype::other},
}};

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw Error(ErrorCode::bad_model, path + ": " + message, kDamagedHint);
}

// An entry of the header while it is read: messages name file and tensor.
struct Entry {
  const std::string& path;
  const std::string& name;
  const json& fields;

  [[noreturn]] void bad(const std::string& message) const { fail(path, "tensor '" + name + "': " + message); }

  const json& field(const char* key) const {
    const auto found = fields.find(key);
    if (found == fields.end()) bad(std::string(key) + " is missing");
    return *found;
  }
  // The numbers of an array, all of them from 0 to 2^63 - 1.
  std::vector<std::int64_t> numbers(const char* key) const {
    const json& values = field(key);
    if (!values.is_array()) bad(std::string(key) + ": expected an array");
    std::vector<std::int64_t> read;
    for (const json& value : values) {
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
        bad(std::string(key) + ": expected integers from 0 on");
      read.push_back(value.get<std::int64_t>());
    }
    return read;
  }
};

HfTensor read_entry(const Entry& entry, std::span<const std::byte> data) {
  HfTensor tensor{.name = entry.name};
  if (!entry.fields.is_object()) entry.bad("expected a JSON object");
  const json& dtype = entry.field("dtype");
  const auto* known = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeInfo& d) { return dtype == d.name; });
  if (known == kDtypes.end()) entry.bad("dtype " + dtype.dump() + " is unknown");
  tensor.dtype = known->dtype;
  tensor.dtype_name = known->name;
  tensor.shape = entry.numbers("shape");
  std::uint64_t bytes = known->bytes;
  for (const std::int64_t size : tensor.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      entry.bad("shape " + shape_text(tensor.shape) + " is too large");
  const std::vector<std::int64_t> offsets = entry.numbers("data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) entry.bad("data_offsets: expected [begin, end]");
  const auto begin = static_cast<std::uint64_t>(offsets[0]), end = static_cast<std::uint64_t>(offsets[1]);
  if (end > data.size())
    entry.bad("ends at byte " + std::to_string(end) + " of the data, which has " + std::to_string(data.size()));
  if (end - begin != bytes)
    entry.bad("shape " + shape_text(tensor.shape) + " of " + tensor.dtype_name + " takes " + std::to_string(bytes) +
              " bytes, its offsets span " + std::to_string(end - begin));
  tensor.bytes = data.subspan(begin, bytes);
  return tensor;
}

void check_overlap(const std::vector<HfTensor>& tensors, const std::string& path) {
  std::vector<const HfTensor*> by_place;
  for (const HfTensor& tensor : tensors)
    if (!tensor.bytes.empty()) by_place.push_back(&tensor);
  std::sort(by_place.begin(), by_place.end(),
            [](const HfTensor* a, const HfTensor* b) { return a->bytes.data() < b->bytes.data(); });
  for (std::size_t i = 1; i < by_place.size(); ++i)
    if (by_place[i - 1]->bytes.data() + by_place[i - 1]->bytes.size() > by_place[i]->bytes.data())
      fail(path, "tensors '" + by_place[i - 1]->name + "' and '" + by_place[i]->name + "' share bytes");
}

std::string_view header_text(std::span<const std::byte> file, const std::string& path) {
  if (const std::string seems = file_lookalike(file); !seems.empty() && seems != kSafetensorsFile)
    throw Error(ErrorCode::bad_model, path + ": not a safetensors file but " + seems);
  std::uint64_t length = 0;
  if (file.size() < sizeof(length))
    fail(path, "not a safetensors file: it has " + std::to_string(file.size()) + " bytes");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > file.size() - sizeof(length) || length > kLongestHeader)
    fail(path, "claims a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(file.size()));
  return {reinterpret_cast<const char*>(file.data()) + sizeof(length), length};
}

}  // namespace

std::vector<HfTensor> parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text = header_text(file, path);
  json header;
  try {
    header = json::parse(text);
  } catch (const json::exception& error) {
    fail(path, std::string("its header is not valid JSON: ") + error.what());
  }
  if (!header.is_object()) fail(path, "its header is not a JSON object");
  const std::span<const std::byte> data = file.subspan(sizeof(std::uint64_t) + text.size());
  std::vector<HfTensor> tensors;
  for (const auto& [name, fields] : header.items())
    if (name != "__metadata__") tensors.push_back(read_entry({path, name, fields}, data));
  check_overlap(tensors, path);
  return tensors;
}

}  // namespace pgdlm
