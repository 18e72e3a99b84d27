// A file that is either written whole or not there at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace pgdlm::cli {

// Error{invalid_request} names the option that the path came from.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes, std::string_view option);

}  // namespace pgdlm::cli
