// What tells files and long texts from others: short, and the same on every machine. Pure but for the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pgdlm {

// Name, size and a hash of a sample of the bytes: weights differ everywhere, so there is no need to read gigabytes.
std::string file_mark(const std::filesystem::path& path);
std::string text_mark(std::string_view text);  // a hash of all of it

}  // namespace pgdlm
