// What a terminal may be shown of a text that is not ours: errors quote files, and a file may hold anything.
#pragma once

#include <string>

namespace pgdlm::cli {

std::string printable(std::string text);  // no control characters, and not endless

}  // namespace pgdlm::cli
