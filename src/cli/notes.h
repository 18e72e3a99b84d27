// What people are told beside the result, on stderr.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace pgdlm::cli {

inline void note_without_effect(const std::vector<std::string>& options) {
  for (const std::string& name : options) fmt::print(stderr, "pgdlm: note: --{} has no effect here\n", name);
}

}  // namespace pgdlm::cli
