// The commands of the program. Each prints its result and returns the exit code; mistakes are Errors.
#pragma once

#include "cli/command_line.h"

namespace pgdlm::cli {

int generate(GenerateOptions options, const RunOptions& run);
int replay(const ReplayOptions& options);
int models();

}  // namespace pgdlm::cli
