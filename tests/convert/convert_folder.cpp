// convert_folder FOLDER OUT TYPE: one conversion, and what it cost. For big_conversion.py and for use by hand.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "convert/convert.h"
#include "gguf/gguf.h"
#include "pgdlm/error.h"

namespace {

// A line of /proc/self/status: "VmHWM:   12345 kB".
std::string status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return line;
  return name + " unknown";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: convert_folder FOLDER OUT TYPE\n");
    return 2;
  }
  try {
    const auto begin = std::chrono::steady_clock::now();
    const auto report = pgdlm::convert(argv[1], argv[2], {.type = pgdlm::parse_weight_type(argv[3])});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%s: %zu tensors, %llu bytes, %zu fallbacks, %.1f s, %s\n", report.architecture.c_str(), report.tensors,
                static_cast<unsigned long long>(report.bytes), report.fallbacks.size(), seconds.count(),
                status("VmHWM").c_str());
    for (const std::string& fallback : report.fallbacks) std::printf("  %s\n", fallback.c_str());
    pgdlm::Gguf::open(argv[2]);
    return 0;
  } catch (const pgdlm::Error& error) {
    std::fprintf(stderr, "error: %s\n%s\n", error.what(), error.hint().c_str());
    return 1;
  }
}
