#include "cli/trace_file.h"

#include <cerrno>
#include <cstring>
#include <variant>

#include "pgdlm/error.h"

namespace pgdlm::cli {

TraceFile::~TraceFile() {
  if (in_place_) return;
  std::error_code ignored;  // the old file is still there and knows more
  std::filesystem::remove(beside(), ignored);
}

void TraceFile::open() {
  const std::filesystem::path target = known_ > 0 ? beside() : path_;
  file_.open(target, std::ios::trunc);
  if (!file_)
    throw Error(ErrorCode::invalid_request,
                "trace '" + target.string() + "' cannot be written: " + std::strerror(errno));
  in_place_ = known_ == 0;
}

void TraceFile::emit(const Event& event) {
  if (std::holds_alternative<Drafted>(event)) return;  // for the eye: the record has its edits
  lines_.emit(event);
  ++written_;
  const auto* finished = std::get_if<RunFinished>(&event);
  const bool complete = finished != nullptr && finished->status != "cancelled" && finished->status != "failed";
  if (in_place_ || (written_ < known_ && !complete)) return;
  std::filesystem::rename(beside(), path_);  // the open stream goes with it
  in_place_ = true;
}

}  // namespace pgdlm::cli
