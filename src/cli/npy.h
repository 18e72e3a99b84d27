// Arrays on disk in NumPy's format, version 1.0.
#pragma once

#include <filesystem>
#include <span>

namespace pgdlm::cli {

// float32, C order, [rows, columns]. Error{invalid_request} if the file cannot be written; a file is whole or absent.
void write_npy(const std::filesystem::path& path, std::span<const float> values, int rows, int columns);

}  // namespace pgdlm::cli
