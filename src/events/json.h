// An Event as one JSON line and back; docs/events.md lists the fields. Doubles survive the round trip bit for bit
// (inf, -inf and nan are written as strings). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pgdlm/events.h"

namespace pgdlm {

struct NumberedEvent {
  std::int64_t seq = 0;  // 0, 1, 2, ... within a run
  Event event;
};

// Without the newline. A RunStarted whose config is not the text of a JSON object is an Error{invalid_request}.
std::string to_json_line(const Event& event, std::int64_t seq);

// Error{invalid_request} says which field was wrong, what was expected and what was found. Unknown fields are skipped.
NumberedEvent from_json_line(std::string_view line);

}  // namespace pgdlm
