#include "cli/npy.h"

#include <fmt/format.h>

#include <string>

#include "cli/whole_file.h"

namespace pgdlm::cli {

void write_npy(const std::filesystem::path& path, std::span<const float> values, int rows, int columns) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  const std::size_t end = (kPreamble + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(end - kPreamble, ' ');
  header.back() = '\n';

  const auto size = static_cast<unsigned>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += {static_cast<char>(size & 255U), static_cast<char>(size >> 8U)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  write_whole_file(path, bytes, "out");
}

}  // namespace pgdlm::cli
