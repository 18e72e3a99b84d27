#include "catalog/shelf.h"

#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;

// Beside build/pgdlm lies models/ of the source tree, beside bin/pgdlm what was installed.
std::vector<fs::path> shelves() {
  std::vector<fs::path> folders;
  if (const char* listed = std::getenv("PGDLM_MODELS"); listed != nullptr) {
    std::istringstream list(listed);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return folders;
  const fs::path parent = program.parent_path().parent_path();
  folders.push_back(parent / "models");
  folders.push_back(parent / "share" / "pgdlm" / "models");
  return folders;
}

std::map<std::string, fs::path> by_name() {
  std::map<std::string, fs::path> found;
  for (const fs::path& shelf : shelves()) {
    std::error_code failed;  // a shelf need not exist
    for (auto entry = fs::directory_iterator(shelf, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
      std::error_code dangling;
      if (entry->path().extension() == ".gguf" && entry->is_regular_file(dangling))
        found.emplace(entry->path().stem().string(), entry->path());
    }
  }
  return found;
}

}  // namespace

std::vector<fs::path> models_on_shelves() {
  std::vector<fs::path> paths;
  for (const auto& [name, path] : by_name()) paths.push_back(path);
  return paths;
}

fs::path find_model(const std::string& name) {
  const bool looks_like_a_file = name.find('/') != std::string::npos || name.ends_with(".gguf");
  std::error_code ignored;
  if (looks_like_a_file || fs::is_regular_file(name, ignored)) return name;
  const std::map<std::string, fs::path> shelved = by_name();
  if (const auto found = shelved.find(name); found != shelved.end()) return found->second;
  std::string names;
  for (const auto& [known, path] : shelved) names += ", " + known;
  throw Error(ErrorCode::invalid_request, "model is '" + name + "', allowed: toy, the path of a GGUF file" + names,
              "`pgdlm models` lists those that have names; PGDLM_MODELS names further folders of GGUF files");
}

}  // namespace pgdlm
