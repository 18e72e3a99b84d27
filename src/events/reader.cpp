#include "events/reader.h"

#include <fstream>
#include <utility>

#include "events/json.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

NumberedEvent parse(const std::string& line, std::int64_t seq, const std::string& where) {
  try {
    NumberedEvent numbered = from_json_line(line);
    if (numbered.seq != seq) {
      throw Error(ErrorCode::invalid_request,
                  "seq: expected " + std::to_string(seq) + ", found " + std::to_string(numbered.seq));
    }
    return numbered;
  } catch (const Error& error) {
    throw Error(error.code(), where + ": " + error.what(), "is this the trace of one run, unedited?");
  }
}

}  // namespace

Trace read_trace(std::istream& in, const std::string& name) {
  Trace trace;
  std::string line;
  while (std::getline(in, line)) {
    const bool whole = !in.eof();  // getline met a newline
    const auto seq = static_cast<std::int64_t>(trace.events.size());
    try {
      trace.events.push_back(parse(line, seq, name + ":" + std::to_string(seq + 1)).event);
    } catch (const Error&) {
      if (whole) throw;
      trace.truncated = true;
    }
  }
  if (trace.events.empty() || !std::holds_alternative<RunStarted>(trace.events.front())) {
    throw Error(ErrorCode::invalid_request, name + ":1: expected a run_started event, found none");
  }
  return trace;
}

Trace read_trace(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::invalid_request, path.string() + ": expected a trace file, found none to read");
  return read_trace(in, path.string());
}

Recording recording_of(const Trace& trace) {
  Recording recording;
  for (const Event& event : trace.events) {
    if (const auto* edited = std::get_if<Edited>(&event)) recording.edits.push_back(*edited);
    if (const auto* weighed = std::get_if<Weighed>(&event)) {
      recording.sweep = weighed->sweep;
      recording.step = weighed->step;
    }
  }
  return recording;
}

}  // namespace pgdlm
