#include "gguf/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <gguf.h>

#include "base/check.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::uint64_t kAlignment = GGUF_DEFAULT_ALIGNMENT;

std::uint64_t padded(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// ---- the header, appended to a string ----

template <class T>
void append(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

void append_text(std::string& out, std::string_view text) {
  append<std::uint64_t>(out, text.size());
  out.append(text);
}

void append_type(std::string& out, gguf_type type) { append<std::uint32_t>(out, type); }

void append_array(std::string& out, gguf_type type, std::size_t count) {
  append_type(out, GGUF_TYPE_ARRAY);
  append_type(out, type);
  append<std::uint64_t>(out, count);
}

struct AppendValue {
  std::string& out;

  void operator()(std::int64_t value) const {
    const bool fits = value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
    append_type(out, fits ? GGUF_TYPE_UINT32 : GGUF_TYPE_INT64);
    fits ? append(out, static_cast<std::uint32_t>(value)) : append(out, value);
  }
  void operator()(double value) const {
    append_type(out, GGUF_TYPE_FLOAT32);
    append(out, static_cast<float>(value));
  }
  void operator()(bool value) const {
    append_type(out, GGUF_TYPE_BOOL);
    append<std::uint8_t>(out, value ? 1 : 0);
  }
  void operator()(const std::string& value) const {
    append_type(out, GGUF_TYPE_STRING);
    append_text(out, value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    append_array(out, GGUF_TYPE_INT32, values.size());
    for (const std::int64_t value : values) {
      PGDLM_CHECK(value == static_cast<std::int32_t>(value));
      append(out, static_cast<std::int32_t>(value));
    }
  }
  void operator()(const std::vector<double>& values) const {
    append_array(out, GGUF_TYPE_FLOAT32, values.size());
    for (const double value : values) append(out, static_cast<float>(value));
  }
  void operator()(const std::vector<bool>& values) const {
    append_array(out, GGUF_TYPE_BOOL, values.size());
    for (const bool value : values) append<std::uint8_t>(out, value ? 1 : 0);
  }
  void operator()(const std::vector<std::string>& values) const {
    append_array(out, GGUF_TYPE_STRING, values.size());
    for (const std::string& value : values) append_text(out, value);
  }
};

// A rename is on disk only when its folder is. Some file systems cannot sync a folder; the data is safe then too.
void sync_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

GgufWriter::GgufWriter(std::filesystem::path path)
    : path_(std::move(path)), part_(path_.string() + ".part-" + std::to_string(::getpid())) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(ErrorCode::invalid_request,
                "file '" + path_.string() + "' cannot be written: it is not a regular file");
  fd_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("be created");
}

GgufWriter::~GgufWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(part_.c_str());
}

void GgufWriter::set(std::string_view key, GgufValue value) {
  PGDLM_CHECK(!data_begun_);
  metadata_.insert_or_assign(std::string(key), std::move(value));
}

void GgufWriter::declare(std::string_view name, ggml_type type, std::span<const std::int64_t> shape) {
  PGDLM_CHECK(!data_begun_ && !name.empty() && name.size() < GGML_MAX_NAME && !shape.empty() && shape.size() <= 4);
  PGDLM_CHECK(std::none_of(tensors_.begin(), tensors_.end(), [&](const Declared& t) { return t.name == name; }));
  PGDLM_CHECK(std::all_of(shape.begin(), shape.end(), [](std::int64_t d) { return d >= 1; }));
  PGDLM_CHECK(shape[0] % ggml_blck_size(type) == 0);
  Declared tensor{.name = std::string(name), .type = type, .shape = {shape.begin(), shape.end()}};
  tensor.bytes = ggml_row_size(type, shape[0]);
  for (std::size_t d = 1; d < shape.size(); ++d) tensor.bytes *= static_cast<std::uint64_t>(shape[d]);
  tensor.offset = data_bytes_;
  data_bytes_ += padded(tensor.bytes);
  tensors_.push_back(std::move(tensor));
}

void GgufWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  if (!data_begun_) begin_data();
  PGDLM_CHECK(current_ < tensors_.size() && tensors_[current_].name == name);
  PGDLM_CHECK(bytes.size() <= tensors_[current_].bytes - filled_);
  put(bytes.data(), bytes.size());
  filled_ += bytes.size();
  if (filled_ < tensors_[current_].bytes) return;
  pad();
  ++current_;
  filled_ = 0;
}

void GgufWriter::commit() {
  if (!data_begun_) begin_data();
  PGDLM_CHECK(current_ == tensors_.size());
  if (::fsync(fd_) != 0) fail("be written");
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail("be put in place");
  ::close(std::exchange(fd_, -1));
  sync_folder(path_);
}

std::string GgufWriter::header() const {
  std::string out(GGUF_MAGIC);
  append<std::uint32_t>(out, GGUF_VERSION);
  append<std::uint64_t>(out, tensors_.size());
  append<std::uint64_t>(out, metadata_.size());
  for (const auto& [key, value] : metadata_) {
    append_text(out, key);
    std::visit(AppendValue{out}, value);
  }
  for (const Declared& tensor : tensors_) {
    append_text(out, tensor.name);
    append<std::uint32_t>(out, static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::int64_t size : tensor.shape) append(out, size);
    append<std::uint32_t>(out, tensor.type);
    append(out, tensor.offset);
  }
  return out;
}

void GgufWriter::begin_data() {
  const std::string out = header();
  put(out.data(), out.size());
  pad();
  data_begun_ = true;
}

void GgufWriter::put(const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(fd_, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("be written");
    next += written;
    size -= static_cast<std::size_t>(written);
    offset_ += static_cast<std::uint64_t>(written);
  }
}

void GgufWriter::pad() {
  constexpr char kZeros[kAlignment] = {};
  put(kZeros, padded(offset_) - offset_);
}

void GgufWriter::fail(const std::string& doing) const {
  const int why = errno;
  const bool full = why == ENOSPC || why == EDQUOT || why == EFBIG;
  throw Error(full ? ErrorCode::exhausted : ErrorCode::invalid_request,
              "file '" + path_.string() + "' cannot " + doing + ": " + std::strerror(why),
              full ? "it needs " + std::to_string(data_bytes_) + " bytes and a little more" : "");
}

}  // namespace pgdlm
