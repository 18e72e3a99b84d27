// The trace of one run on disk, line by line. A resumed run writes beside the old file and takes its place as soon as
// it knows as much, so that nothing is lost whenever it is stopped. Used on the coordinator's thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "events/sinks.h"

namespace pgdlm::cli {

class TraceFile final : public EventSink {
 public:
  // `known`: events already in the file, which the new one must repeat first; 0 for a new trace.
  TraceFile(std::filesystem::path path, std::size_t known) : path_(std::move(path)), known_(known), lines_(file_) {}
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void open();  // Error{invalid_request} if it cannot be written
  void emit(const Event& event) override;

 private:
  std::filesystem::path beside() const { return path_.string() + ".part"; }

  std::filesystem::path path_;
  std::size_t known_, written_ = 0;
  bool in_place_ = true;
  std::ofstream file_;
  JsonlSink lines_;
};

}  // namespace pgdlm::cli
