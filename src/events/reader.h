// Reads a trace back: for replay, for resuming, for tables. Pure functions, any thread.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "pgdlm/request.h"

namespace pgdlm {

struct Trace {
  std::vector<Event> events;
  bool truncated = false;  // the last line was cut off, as by a crash, and has been left out
};

// Error{invalid_request} with "name:line: what was expected, what was found" for anything but a cut last line.
Trace read_trace(std::istream& in, const std::string& name);
Trace read_trace(const std::filesystem::path& path);

// What a request need not compute again (Request::recorded). A stage is whole once it was weighed.
Recording recording_of(const Trace& trace);

}  // namespace pgdlm
