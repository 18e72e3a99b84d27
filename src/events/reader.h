// Reads a trace back: for replay, for resuming, for tables. Pure functions, any thread.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "pgdlm/events.h"

namespace pgdlm {

struct Trace {
  std::vector<Event> events;
  bool truncated = false;  // the last line was cut off, as by a crash, and has been left out
};

// Error{invalid_request} with "name:line: what was expected, what was found" for anything but a cut last line.
Trace read_trace(std::istream& in, const std::string& name);
Trace read_trace(const std::filesystem::path& path);

// The stages a request need not compute again (Request::recorded).
std::vector<Edited> recorded_stages(const Trace& trace);

}  // namespace pgdlm
