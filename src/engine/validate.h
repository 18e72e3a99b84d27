// Everything that can be wrong with a request is found here, before anything is computed or written.
// Pure function, any thread.
#pragma once

#include "pgdlm/request.h"

namespace pgdlm {

// Throws Error{invalid_request} that names the field (as on the command line), its value and what is allowed.
void validate(const Request& request, const Denoiser& denoiser);

}  // namespace pgdlm
