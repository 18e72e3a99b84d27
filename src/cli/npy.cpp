#include "cli/npy.h"

#include <fmt/format.h>

#include <fstream>

#include "pgdlm/error.h"

namespace pgdlm::cli {

void write_npy(const std::filesystem::path& path, std::span<const float> values, int rows, int columns) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  const std::size_t end = (kPreamble + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(end - kPreamble, ' ');
  header.back() = '\n';

  const std::filesystem::path beside = path.string() + ".part";
  std::ofstream out(beside, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  const auto size = static_cast<unsigned>(header.size());
  out.put(static_cast<char>(size & 255U)).put(static_cast<char>(size >> 8U));
  out << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, path, error);
  if (out && !error) return;
  std::filesystem::remove(beside, error);
  throw Error(ErrorCode::invalid_request, fmt::format("out: '{}' cannot be written", path.string()));
}

}  // namespace pgdlm::cli
