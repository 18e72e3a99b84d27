#include "gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

Error unreadable(const std::filesystem::path& path, const std::string& why) {
  return Error(ErrorCode::invalid_request, "file '" + path.string() + "' cannot be read: " + why);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a named pipe must not make us wait
  if (fd < 0) throw unreadable(path, std::strerror(errno));
  struct stat status = {};
  const bool known = ::fstat(fd, &status) == 0;
  const int stat_error = errno;
  void* start = nullptr;
  int map_error = 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (known && S_ISREG(status.st_mode) && size > 0) {
    start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    map_error = start == MAP_FAILED ? errno : 0;
  }
  ::close(fd);  // the mapping keeps the file
  if (!known) throw unreadable(path, std::strerror(stat_error));
  if (S_ISDIR(status.st_mode)) throw unreadable(path, "it is a folder");
  if (!S_ISREG(status.st_mode)) throw unreadable(path, "it is not a regular file");
  if (map_error != 0) throw unreadable(path, std::strerror(map_error));
  if (size > 0) bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin >= end) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // only advice: failure costs memory
}

}  // namespace pgdlm
