// Messages about options, in the words of those who gave them.
#pragma once

#include <string>

namespace pgdlm {

// A process names the fields of its options struct ("llada.block_length is 7, ..."); here they get the names of the
// options.
std::string with_option_names(std::string message);

}  // namespace pgdlm
