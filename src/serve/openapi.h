// /openapi.json, from the lists that the readers of requests walk (fields.h).
#pragma once

#include <string>

namespace pgdlm::serve {

std::string openapi();

}  // namespace pgdlm::serve
