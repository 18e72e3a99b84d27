// The texts a command is to look at: its arguments, or the lines of a file.
#pragma once

#include <string>
#include <vector>

namespace pgdlm::cli {

struct TextsOptions {
  std::vector<std::string> texts;
  std::string file;  // one text per line; "-": standard input
};

// In order, as valid UTF-8. Empty ones are left out, and standard error says how many. Error{invalid_request} if none
// is left, or if both arguments and a file are given.
std::vector<std::string> read_texts(const TextsOptions& options);

std::vector<std::string> lines_of_file(const std::string& path);  // "-": standard input; Error{invalid_request}

}  // namespace pgdlm::cli
