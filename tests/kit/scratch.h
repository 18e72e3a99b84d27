// The scratch folder of a test. Each test owns its own.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace pgdlm {

// A folder that goes away with the test.
class Scratch {
 public:
  explicit Scratch(const std::string& name) {
    static std::atomic<int> made = 0;  // a process may have several at once
    folder_ = std::filesystem::temp_directory_path() /
              ("pgdlm-" + name + "-" + std::to_string(::getpid()) + "-" + std::to_string(++made));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& path() const { return folder_; }

  std::filesystem::path file(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << content;
    return folder_ / name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace pgdlm
