// The directory of a zip archive whose entries are stored as they are, which is how PyTorch writes checkpoints. Reads
// zip64 too. Pure functions of the bytes, any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace pgdlm {

// Entries by name, as views into `file`. Error{bad_model} if the directory contradicts itself or the file, or an entry
// is compressed or encrypted.
std::map<std::string, std::span<const std::byte>, std::less<>> read_zip(std::span<const std::byte> file,
                                                                        const std::string& path);

}  // namespace pgdlm
