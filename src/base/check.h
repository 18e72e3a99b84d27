// States an invariant of ours. A failure is a bug: it ends the request with file and line, never the process.
#pragma once

#include <string>

#include "pgdlm/error.h"

#define PGDLM_CHECK(condition)                                                                       \
  do {                                                                                               \
    if (!(condition))                                                                                \
      throw ::pgdlm::Error(::pgdlm::ErrorCode::internal,                                             \
                           std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #condition, \
                           "this is a bug in pgdlm, please report it");                              \
  } while (false)
