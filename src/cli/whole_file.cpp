#include "cli/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "pgdlm/error.h"

namespace pgdlm::cli {

void write_whole_file(const std::filesystem::path& path, std::string_view bytes, std::string_view option) {
  const std::filesystem::path beside = path.string() + ".part";
  errno = 0;
  std::ofstream out(beside, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, path, error);
  if (out && !error) return;
  const int reason = error ? error.value() : errno;
  std::filesystem::remove(beside, error);
  throw Error(ErrorCode::invalid_request,
              fmt::format("{}: '{}' cannot be written: {}", option, path.string(), std::strerror(reason)));
}

}  // namespace pgdlm::cli
