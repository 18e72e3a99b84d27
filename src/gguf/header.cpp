#include "gguf/header.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gguf.h>

#include "gguf/byte_cursor.h"

namespace pgdlm {
namespace {

using namespace std::string_literals;

std::string in_quotes(std::string_view name) {
  std::string shown = "'";
  for (const char c : name.substr(0, 80)) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return shown + (name.size() > 80 ? "...'" : "'");
}

// ---- before the keys ----

constexpr std::string_view kWhatIsGguf =
    "pgdlm reads GGUF files of version 2 and 3; `pgdlm convert` makes them from "
    "the folder of a model";

std::uint32_t swapped(std::uint32_t v) { return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24; }

void check_start(ByteCursor& in, std::span<const std::byte> file, const std::string& path) {
  if (file.empty()) throw Error(ErrorCode::bad_model, path + ": the file is empty", std::string(kWhatIsGguf));
  const std::string seems = file_lookalike(file);
  if (file.size() < 4 || std::memcmp(file.data(), GGUF_MAGIC, 4) != 0)
    throw Error(ErrorCode::bad_model, path + ": not a GGUF file" + (seems.empty() ? "" : " but " + seems),
                std::string(kWhatIsGguf));
  in.take(4);
  const auto version = in.number<std::uint32_t>();
  if (version == 2 || version == 3) return;
  in.reading("version");
  if (const std::uint32_t other = swapped(version); other >= 1 && other <= 3)
    in.fail("version " + std::to_string(other) + " in big-endian byte order, expected little-endian",
            "convert the original model again on this machine");
  if (version == 1) in.fail("version 1 is no longer in use, expected 2 or 3", "convert the original model again");
  in.fail("expected 2 or 3, got " + std::to_string(version));
}

// ---- values ----

template <class T>
std::int64_t integer(ByteCursor& in) {
  const T value = in.number<T>();
  if constexpr (std::is_same_v<T, std::uint64_t>)
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      in.fail("expected an integer below 2^63, got " + std::to_string(value));
  return static_cast<std::int64_t>(value);
}

bool boolean(ByteCursor& in) {
  const auto value = in.number<std::uint8_t>();
  if (value > 1) in.fail("expected a boolean (0 or 1), got " + std::to_string(value));
  return value == 1;
}

template <class Stored, class Read>
std::vector<Stored> list(ByteCursor& in, std::size_t bytes_each, Read read) {
  const std::size_t count = in.count(bytes_each, sizeof(Stored));
  std::vector<Stored> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) values.push_back(read(in));
  return values;
}

template <class T>
GgufValue integers(ByteCursor& in, bool array) {
  if (!array) return integer<T>(in);
  return list<std::int64_t>(in, sizeof(T), integer<T>);
}

template <class T>
GgufValue reals(ByteCursor& in, bool array) {
  const auto read = [](ByteCursor& from) { return static_cast<double>(from.number<T>()); };
  if (!array) return read(in);
  return list<double>(in, sizeof(T), read);
}

GgufValue value(ByteCursor& in, std::uint32_t type, bool array) {
  switch (type) {
    case GGUF_TYPE_UINT8: return integers<std::uint8_t>(in, array);
    case GGUF_TYPE_INT8: return integers<std::int8_t>(in, array);
    case GGUF_TYPE_UINT16: return integers<std::uint16_t>(in, array);
    case GGUF_TYPE_INT16: return integers<std::int16_t>(in, array);
    case GGUF_TYPE_UINT32: return integers<std::uint32_t>(in, array);
    case GGUF_TYPE_INT32: return integers<std::int32_t>(in, array);
    case GGUF_TYPE_UINT64: return integers<std::uint64_t>(in, array);
    case GGUF_TYPE_INT64: return integers<std::int64_t>(in, array);
    case GGUF_TYPE_FLOAT32: return reals<float>(in, array);
    case GGUF_TYPE_FLOAT64: return reals<double>(in, array);
    case GGUF_TYPE_BOOL: return array ? GgufValue(list<bool>(in, 1, boolean)) : GgufValue(boolean(in));
    case GGUF_TYPE_STRING: {
      const auto read = [](ByteCursor& from) { return from.string(); };
      return array ? GgufValue(list<std::string>(in, sizeof(std::uint64_t), read)) : GgufValue(in.string());
    }
    case GGUF_TYPE_ARRAY:
      if (array) in.fail("an array of arrays, which pgdlm does not read");
      return value(in, in.number<std::uint32_t>(), true);
    default: in.fail("expected a value type from 0 to 12, got " + std::to_string(type));
  }
}

void read_metadata(ByteCursor& in, std::size_t count, GgufHeader& header) {
  for (std::size_t i = 0; i < count; ++i) {
    in.reading("key " + std::to_string(i + 1) + " of " + std::to_string(count));
    std::string key = in.string();
    if (key.empty() || key.size() > 65535) in.fail("its name has " + std::to_string(key.size()) + " bytes");
    in.reading("key " + in_quotes(key));
    if (header.metadata.contains(key)) in.fail("given twice");
    const auto type = in.number<std::uint32_t>();
    GgufValue read = value(in, type, false);
    header.metadata.emplace(std::move(key), std::move(read));
  }
}

// Part of a model is no model.
void check_whole(const GgufHeader& header, ByteCursor& in) {
  const auto parts = header.metadata.find("split.count");
  if (parts == header.metadata.end()) return;
  const auto* count = std::get_if<std::int64_t>(&parts->second);
  in.reading("key 'split.count'");
  if (count != nullptr && *count > 1)
    in.fail("this is one of " + std::to_string(*count) + " parts of a model, and pgdlm reads whole files",
            "join them: llama-gguf-split --merge FIRST-PART.gguf WHOLE.gguf");
}

// ---- tensors ----

// A tensor as claimed; offsets count from the beginning of the data section.
struct Claim {
  std::uint64_t offset = 0, bytes = 0;
};

std::uint64_t times(std::uint64_t a, std::uint64_t b, ByteCursor& in) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > std::numeric_limits<std::int64_t>::max())
    in.fail("its dimensions multiply to more than 2^63");
  return product;
}

ggml_type tensor_type(ByteCursor& in) {
  const auto id = in.number<std::uint32_t>();
  if (id >= GGML_TYPE_COUNT || ggml_blck_size(static_cast<ggml_type>(id)) <= 0 ||
      ggml_type_size(static_cast<ggml_type>(id)) == 0)
    in.fail("its type " + std::to_string(id) + " is unknown to this version of ggml",
            "the file was made for another version, or its format was withdrawn: convert the original model again");
  return static_cast<ggml_type>(id);
}

Claim read_tensor(ByteCursor& in, GgufTensor& tensor) {
  tensor.name = in.string();
  if (tensor.name.empty() || tensor.name.size() >= GGML_MAX_NAME)
    in.fail("its name has " + std::to_string(tensor.name.size()) + " bytes, expected 1 to " +
            std::to_string(GGML_MAX_NAME - 1));
  in.reading("tensor " + in_quotes(tensor.name));
  const auto dimensions = in.number<std::uint32_t>();
  if (dimensions < 1 || dimensions > 4) in.fail("expected 1 to 4 dimensions, got " + std::to_string(dimensions));
  tensor.dimensions = static_cast<int>(dimensions);
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto size = in.number<std::uint64_t>();
    if (size == 0) in.fail("dimension " + std::to_string(d) + " is 0");
    elements = times(elements, size, in);
    tensor.shape[d] = static_cast<std::int64_t>(size);
  }
  tensor.type = tensor_type(in);
  const auto block = static_cast<std::uint64_t>(ggml_blck_size(tensor.type));
  if (static_cast<std::uint64_t>(tensor.shape[0]) % block != 0)
    in.fail("rows of " + std::to_string(tensor.shape[0]) + " do not divide into blocks of " + std::to_string(block) +
            " of type " + ggml_type_name(tensor.type));
  Claim claim;
  claim.bytes = times(elements / block, ggml_type_size(tensor.type), in);
  claim.offset = in.number<std::uint64_t>();
  return claim;
}

std::uint64_t alignment_of(const GgufHeader& header, ByteCursor& in) {
  const auto given = header.metadata.find("general.alignment");
  if (given == header.metadata.end()) return GGUF_DEFAULT_ALIGNMENT;
  const auto* alignment = std::get_if<std::int64_t>(&given->second);
  in.reading("key 'general.alignment'");
  if (alignment == nullptr) in.fail("expected an integer");
  if (*alignment < 1 || *alignment > (1 << 20) || (*alignment & (*alignment - 1)) != 0)
    in.fail("expected a power of two up to 2^20, got " + std::to_string(*alignment));
  return static_cast<std::uint64_t>(*alignment);
}

// Gives every tensor its bytes, or says why they cannot be where the file says.
void place(std::span<const std::byte> file, std::span<const Claim> claims, std::uint64_t alignment, ByteCursor& in,
           std::vector<GgufTensor>& tensors) {
  const std::uint64_t start = (in.position() + alignment - 1) / alignment * alignment;
  const std::uint64_t size = start > file.size() ? 0 : file.size() - start;
  std::set<std::pair<std::uint64_t, std::size_t>> by_offset;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Claim& claim = claims[i];
    in.reading("tensor " + in_quotes(tensors[i].name));
    if (claim.offset % alignment != 0)
      in.fail("its offset " + std::to_string(claim.offset) + " is not a multiple of " + std::to_string(alignment));
    if (claim.offset > size || claim.bytes > size - claim.offset)
      in.fail("needs " + std::to_string(claim.bytes) + " bytes at offset " + std::to_string(claim.offset) +
                  " of the data, which has " + std::to_string(size),
              kDamagedHint);
    tensors[i].bytes = file.subspan(start + claim.offset, claim.bytes);
    by_offset.emplace(claim.offset, i);
  }
  const std::size_t* before = nullptr;
  for (const auto& [offset, i] : by_offset) {
    in.reading("tensor " + in_quotes(tensors[i].name));
    if (before != nullptr && claims[*before].offset + claims[*before].bytes > offset)
      in.fail("shares bytes with tensor " + in_quotes(tensors[*before].name));
    before = &i;
  }
}

void read_tensors(std::span<const std::byte> file, std::size_t count, ByteCursor& in, GgufHeader& header) {
  const std::uint64_t alignment = alignment_of(header, in);
  std::vector<Claim> claims;
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < count; ++i) {
    in.reading("tensor " + std::to_string(i + 1) + " of " + std::to_string(count));
    GgufTensor tensor;
    claims.push_back(read_tensor(in, tensor));
    if (!names.insert(tensor.name).second) in.fail("given twice");
    header.tensors.push_back(std::move(tensor));
  }
  place(file, claims, alignment, in, header.tensors);
}

}  // namespace

GgufHeader parse_gguf(std::span<const std::byte> file, const std::string& path) {
  ByteCursor in(file, path);
  check_start(in, file, path);
  // The least an entry takes in the file: a tensor its name, one dimension, type, offset; a key its name, type, value.
  constexpr std::size_t kTensorBytes = 8 + 4 + 8 + 4 + 8, kKeyBytes = 8 + 4 + 1;
  in.reading("number of tensors");
  const std::size_t tensors = in.count(kTensorBytes, 2 * sizeof(GgufTensor));
  in.reading("number of keys");
  const std::size_t keys = in.count(kKeyBytes, 2 * sizeof(GgufValue));
  GgufHeader header;
  read_metadata(in, keys, header);
  check_whole(header, in);
  read_tensors(file, tensors, in, header);
  return header;
}

std::string file_lookalike(std::span<const std::byte> file) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 256));
  std::string lower(start);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (start.starts_with("version https://git-lfs"))
    return "a git-lfs pointer: the folder was cloned without its large files (git lfs pull fetches them)";
  if (lower.find("<!doctype") != std::string::npos || lower.find("<html") != std::string::npos)
    return "a web page: the download answered with HTML (an access form or an error?)";
  if (start.starts_with(GGUF_MAGIC)) return "a GGUF file, which pgdlm reads as it is";
  if (start.starts_with("PK\x03\x04")) return "a zip archive, as PyTorch writes its .bin and .pt files";
  if (start.starts_with('\x80') && start.find("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") < 32)
    return "a pickle, as PyTorch before 1.6 writes its .bin and .pt files";
  if (start.starts_with("tjgg") || start.starts_with("lmgg") || start.starts_with("fmgg"))
    return "a ggml file older than GGUF";
  if (start.size() > 8 && start[8] == '{' && start.substr(4, 4) == "\0\0\0\0"s) return kSafetensorsFile;
  return "";
}

}  // namespace pgdlm
