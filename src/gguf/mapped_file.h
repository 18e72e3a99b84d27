// A file seen as bytes: a read-only memory mapping, so that only what is looked at is read, and pages can be given back
// as soon as they are done with. Owned by whoever reads the file; immutable, any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace pgdlm {

class MappedFile {
 public:
  MappedFile() = default;
  // Error{invalid_request} if there is no such file, it is not a regular file, or it cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }
  // The pages inside `part` of bytes() need not stay in memory; reading them again reads the file again.
  void release(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace pgdlm
