// A file of text, whole.
#pragma once

#include <filesystem>
#include <string>

namespace pgdlm {

// Error{invalid_request} says that `what` cannot be read, and why.
std::string read_text_file(const std::filesystem::path& file, const std::string& what);

}  // namespace pgdlm
