// GenerateOptions as the JSON object that a trace carries, and back. Keys are the long options with underscores.
#pragma once

#include <string>

#include "options/options.h"

namespace pgdlm {

std::string to_config(const GenerateOptions& options);
// Error{invalid_request} names the key; `source` says where the text came from. Keys we do not know are an error too:
// a run that cannot be repeated exactly is not repeated.
GenerateOptions from_config(const std::string& config, const std::string& source);

}  // namespace pgdlm
