// Models, judges, tasks and studies by name. A shelf is a folder of files NAME.gguf, judges/NAME.json, tasks/NAME.jsonl
// and studies/NAME.json: those that $PGDLM_MODELS lists, separated by colons, then those that come with the program.
// The first shelf that has a name wins. Looks at the file system when asked; any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pgdlm {

std::vector<std::filesystem::path> models_on_shelves();  // in the order of their names

// What a user means by a model: whatever looks like a path, or else a name on a shelf, or else a file of that name.
std::optional<std::filesystem::path> seek_model(const std::string& name);
std::filesystem::path find_model(const std::string& name);  // Error{invalid_request} if there is none
// Of a user who names none: $PGDLM_MODEL, or mdlm-nano if a shelf has it, or the toy, which needs no file.
std::string default_model();

// The results that come with the source tree: a report and traces. Nothing where the program stands alone.
std::optional<std::filesystem::path> results_of_source_tree();

// The same for judges (eval/judge.h).
std::vector<std::filesystem::path> judges_on_shelves();
std::filesystem::path find_judge(const std::string& name);

// The same for tasks (eval/task.h) and studies (eval/study.h).
std::vector<std::filesystem::path> tasks_on_shelves();
std::filesystem::path find_task(const std::string& name);
std::vector<std::filesystem::path> studies_on_shelves();
std::filesystem::path find_study(const std::string& name);

}  // namespace pgdlm
