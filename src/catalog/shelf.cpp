#include "catalog/shelf.h"

#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;

// Beside build/pgdlm lies the source tree, beside bin/pgdlm what was installed. Empty if nobody knows.
fs::path beside_program() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.empty() ? fs::path() : program.parent_path().parent_path();
}

std::vector<fs::path> shelves() {
  std::vector<fs::path> folders;
  if (const char* listed = std::getenv("PGDLM_MODELS"); listed != nullptr) {
    std::istringstream list(listed);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  const fs::path parent = beside_program();
  if (parent.empty()) return folders;
  folders.push_back(parent / "models");
  folders.push_back(parent / "share" / "pgdlm" / "models");
  return folders;
}

// What lies on a shelf, and how a user is told about it.
struct Kind {
  const char *noun, *folder, *extension;  // the folder is one of a shelf
  const char *otherwise, *hint;           // what else a user may say
};
constexpr Kind kModel = {
    "model", "", ".gguf", "toy, the path of a GGUF file",
    "`pgdlm models` lists those that have names; PGDLM_MODELS names further folders of GGUF files"};
constexpr Kind kJudge = {
    "judge", "judges", ".json", "the path of a JSON file",
    "`pgdlm judge --list` lists those that have names: judges/NAME.json in a folder that PGDLM_MODELS names"};

constexpr Kind kTask = {
    "task", "tasks", ".jsonl", "the path of a file of JSON lines",
    "`pgdlm eval --list` lists those that have names: tasks/NAME.jsonl in a folder that PGDLM_MODELS names"};

constexpr Kind kStudy = {
    "study", "studies", ".json", "the path of a JSON file",
    "`pgdlm study --list` lists those that have names: studies/NAME.json in a folder that PGDLM_MODELS names"};

std::map<std::string, fs::path> by_name(const Kind& kind) {
  std::map<std::string, fs::path> found;
  for (const fs::path& shelf : shelves()) {
    std::error_code failed;  // a shelf need not exist
    for (auto entry = fs::directory_iterator(shelf / kind.folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
      std::error_code dangling;
      if (entry->path().extension() == kind.extension && entry->is_regular_file(dangling))
        found.emplace(entry->path().stem().string(), entry->path());
    }
  }
  return found;
}

std::vector<fs::path> paths_of(const Kind& kind) {
  std::vector<fs::path> paths;
  for (const auto& [name, path] : by_name(kind)) paths.push_back(path);
  return paths;
}

std::optional<fs::path> seek(const std::string& name, const Kind& kind) {
  const bool looks_like_a_file = name.find('/') != std::string::npos || name.ends_with(kind.extension);
  if (looks_like_a_file) return name;
  const std::map<std::string, fs::path> shelved = by_name(kind);
  if (const auto found = shelved.find(name); found != shelved.end()) return found->second;
  std::error_code ignored;
  return fs::is_regular_file(name, ignored) ? std::optional<fs::path>(name) : std::nullopt;
}

fs::path find(const std::string& name, const Kind& kind) {
  if (const auto found = seek(name, kind)) return *found;
  std::string names;
  for (const auto& [known, path] : by_name(kind)) names += ", " + known;
  throw Error(ErrorCode::invalid_request,
              std::string(kind.noun) + " is '" + name + "', allowed: " + kind.otherwise + names, kind.hint);
}

}  // namespace

std::vector<fs::path> models_on_shelves() { return paths_of(kModel); }
std::vector<fs::path> judges_on_shelves() { return paths_of(kJudge); }
std::vector<fs::path> tasks_on_shelves() { return paths_of(kTask); }
std::vector<fs::path> studies_on_shelves() { return paths_of(kStudy); }

std::optional<fs::path> results_of_source_tree() {
  const fs::path results = beside_program() / "docs" / "results";
  std::error_code ignored;
  return fs::is_directory(results, ignored) ? std::optional(results) : std::nullopt;
}

std::optional<fs::path> seek_model(const std::string& name) { return seek(name, kModel); }
fs::path find_model(const std::string& name) { return find(name, kModel); }
std::string default_model() {
  if (const char* chosen = std::getenv("PGDLM_MODEL"); chosen != nullptr && *chosen != '\0') return chosen;
  constexpr const char* kDefault = "mdlm-nano";
  return by_name(kModel).contains(kDefault) ? kDefault : "toy";
}
fs::path find_judge(const std::string& name) { return find(name, kJudge); }
fs::path find_task(const std::string& name) { return find(name, kTask); }
fs::path find_study(const std::string& name) { return find(name, kStudy); }

}  // namespace pgdlm
