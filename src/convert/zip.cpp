#include "convert/zip.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "gguf/byte_cursor.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                        kLocal = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20;
constexpr std::uint32_t kIn64 = std::numeric_limits<std::uint32_t>::max();  // "the zip64 field has it"

struct Directory {
  std::uint64_t entries = 0, bytes = 0, offset = 0;
};

struct Entry {
  std::string name;
  std::uint64_t bytes = 0, packed = 0, local = 0;  // local: where its own header is
  std::uint16_t flags = 0, method = 0;
};

class Zip {
 public:
  Zip(Bytes file, const std::string& path) : file_(file), path_(path) {}

  std::map<std::string, Bytes, std::less<>> entries() const {
    const Directory directory = find_directory();
    ByteCursor in = cursor(directory.offset, "zip directory");
    std::map<std::string, Bytes, std::less<>> all;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      const Entry entry = read_entry(in);
      if (!all.emplace(entry.name, content(entry)).second) in.fail("has '" + entry.name + "' twice", kDamagedHint);
    }
    return all;
  }

 private:
  // Reads from `offset` of the file on.
  ByteCursor cursor(std::uint64_t offset, const std::string& what) const {
    ByteCursor in(file_, path_);
    in.reading(what);
    in.take(offset);
    return in;
  }

  // The last record of the archive, which only a comment may follow.
  std::size_t find_end() const {
    constexpr std::size_t kLongestComment = 0xffff;
    const std::size_t furthest = kEndBytes + kLongestComment;
    for (std::size_t back = kEndBytes; back <= std::min(file_.size(), furthest); ++back) {
      ByteCursor in = cursor(file_.size() - back, "zip end");
      if (in.number<std::uint32_t>() != kEnd) continue;
      in.take(16);
      if (in.number<std::uint16_t>() == back - kEndBytes) return file_.size() - back;
    }
    throw Error(ErrorCode::bad_model, path_ + ": a zip archive without its end", kDamagedHint);
  }

  Directory find_directory() const {
    const std::size_t end = find_end();
    ByteCursor in = cursor(end, "zip end");
    in.take(4 + 2 + 2 + 2);  // signature, disks, entries on this disk
    Directory found;
    found.entries = in.number<std::uint16_t>();
    found.bytes = in.number<std::uint32_t>();
    found.offset = in.number<std::uint32_t>();
    if (const auto large = find_directory64(end)) found = *large;
    if (found.offset > end || found.bytes > end - found.offset)
      in.fail("its directory should be at byte " + std::to_string(found.offset) + ", but the file has " +
                  std::to_string(file_.size()),
              kDamagedHint);
    return found;
  }

  std::optional<Directory> find_directory64(std::size_t end) const {
    if (end < kLocatorBytes) return std::nullopt;
    ByteCursor locator = cursor(end - kLocatorBytes, "zip64 locator");
    if (locator.number<std::uint32_t>() != kLocator64) return std::nullopt;
    locator.take(4);
    ByteCursor in = cursor(locator.number<std::uint64_t>(), "zip64 end");
    if (in.number<std::uint32_t>() != kEnd64) in.fail("expected its signature", kDamagedHint);
    in.take(8 + 2 + 2 + 4 + 4 + 8);  // size, versions, disks, entries on this disk
    Directory found;
    found.entries = in.number<std::uint64_t>();
    found.bytes = in.number<std::uint64_t>();
    found.offset = in.number<std::uint64_t>();
    return found;
  }

  static Entry read_entry(ByteCursor& in) {
    if (in.number<std::uint32_t>() != kEntry) in.fail("expected an entry", kDamagedHint);
    Entry entry;
    in.take(2 + 2);  // versions
    entry.flags = in.number<std::uint16_t>();
    entry.method = in.number<std::uint16_t>();
    in.take(4 + 4);  // time, checksum
    entry.packed = in.number<std::uint32_t>();
    entry.bytes = in.number<std::uint32_t>();
    const auto name = in.number<std::uint16_t>(), extra = in.number<std::uint16_t>(),
               comment = in.number<std::uint16_t>();
    in.take(2 + 2 + 4);  // disk, attributes
    entry.local = in.number<std::uint32_t>();
    const Bytes text = in.take(name);
    entry.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
    if (!valid_utf8(entry.name)) in.fail("an entry whose name is not valid UTF-8", kDamagedHint);
    read_extra(in, extra, entry);
    in.take(comment);
    return entry;
  }

  // A list of fields: kind, size, content. The zip64 one has the numbers that did not fit, in this order.
  static void read_extra(ByteCursor& in, std::size_t bytes, Entry& entry) {
    constexpr std::uint16_t kZip64 = 1;
    const std::size_t end = in.position() + bytes;
    if (bytes > in.left()) in.take(bytes);
    while (end - in.position() >= 4) {
      const auto kind = in.number<std::uint16_t>(), size = in.number<std::uint16_t>();
      const std::size_t next = in.position() + size;
      if (next > end) break;  // padding of some other kind
      if (kind == kZip64)
        for (std::uint64_t* number : {&entry.bytes, &entry.packed, &entry.local})
          if (*number == kIn64 && next - in.position() >= 8) *number = in.number<std::uint64_t>();
      in.take(next - in.position());
    }
    in.take(end - in.position());
  }

  Bytes content(const Entry& entry) const {
    ByteCursor in = cursor(entry.local, "zip entry '" + entry.name + "'");
    constexpr std::uint16_t kEncrypted = 1;
    if (entry.method != 0 || (entry.flags & kEncrypted) != 0 || entry.packed != entry.bytes)
      in.fail("it is compressed or encrypted, supported: stored as it is", "save the model again with torch.save");
    if (in.number<std::uint32_t>() != kLocal) in.fail("its own header is not where the directory says", kDamagedHint);
    in.take(2 + 2 + 2 + 4 + 4 + 4 + 4);  // version, flags, method, time, checksum, sizes
    const auto name = in.number<std::uint16_t>(), extra = in.number<std::uint16_t>();
    in.take(name);
    in.take(extra);
    return in.take(entry.bytes);
  }

  Bytes file_;
  const std::string& path_;
};

}  // namespace

std::map<std::string, Bytes, std::less<>> read_zip(Bytes file, const std::string& path) {
  return Zip(file, path).entries();
}

}  // namespace pgdlm
