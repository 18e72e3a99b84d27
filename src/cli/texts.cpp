#include "cli/texts.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm::cli {
namespace {

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::vector<std::string> lines_of_file(const std::string& path) {
  if (path == "-") return lines_of(std::cin);
  std::ifstream in(path);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored))
    throw Error(ErrorCode::invalid_request, fmt::format("file '{}' cannot be read", path));
  return lines_of(in);
}

std::vector<std::string> read_texts(const TextsOptions& options) {
  if (!options.file.empty() && !options.texts.empty())
    throw Error(ErrorCode::invalid_request, "file and TEXT both say what to look at", "give one of them");
  std::vector<std::string> texts = options.file.empty() ? options.texts : lines_of_file(options.file);
  const std::size_t empty = std::erase(texts, "");
  if (texts.empty())
    throw Error(ErrorCode::invalid_request,
                options.file.empty() ? "there is no text" : fmt::format("there is no text in file '{}'", options.file),
                "give texts as arguments, or -f FILE with one per line (-f - reads standard input)");
  if (empty > 0) fmt::print(stderr, "pgdlm: note: {} of {} texts left out: empty\n", empty, empty + texts.size());
  for (std::string& text : texts) text = valid_utf8(text);
  return texts;
}

}  // namespace pgdlm::cli
