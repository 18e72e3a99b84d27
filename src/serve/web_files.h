// The web view (web/), built into the program.
#pragma once

#include <span>
#include <string_view>

namespace pgdlm::serve {

struct WebFile {
  std::string_view path, type, content;
};
std::span<const WebFile> web_files();

}  // namespace pgdlm::serve
