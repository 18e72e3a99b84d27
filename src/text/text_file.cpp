#include "text/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {

std::string read_text_file(const std::filesystem::path& file, const std::string& what) {
  const auto fail = [&](int reason) {
    throw Error(ErrorCode::invalid_request,
                what + " '" + valid_utf8(file.string()) + "' cannot be read: " + std::strerror(reason));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail(EISDIR);
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(errno);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace pgdlm
