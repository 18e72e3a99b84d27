// "Did you mean": the known word nearest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pgdlm::cli {

// By edit distance (a swap of neighbours counts once); nothing if more than a third of the word would have to change.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known);

}  // namespace pgdlm::cli
