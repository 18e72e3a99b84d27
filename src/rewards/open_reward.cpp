#include "rewards/open_reward.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalog/shelf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr const char* kSize = "-nano";  // of the default models; a reward may be named without it

// A reward's name in its two parts.
struct Name {
  std::string model, argument;
};

Name parse_name(const std::string& name) {
  const std::size_t colon = name.ends_with(".gguf") ? std::string::npos : name.rfind(':');
  return {name.substr(0, colon), colon == std::string::npos ? "" : name.substr(colon + 1)};
}

// What `pgdlm models` calls them: a reward named "prm" is the file prm-nano.
std::optional<std::filesystem::path> find_reward_model(const std::string& name) {
  const std::vector<std::filesystem::path> shelved = models_on_shelves();
  for (const std::string& wanted : {name, name + kSize})
    for (const std::filesystem::path& path : shelved)
      if (path.stem() == wanted) return path;
  const bool looks_like_a_file = name.find('/') != std::string::npos || name.ends_with(".gguf");
  return looks_like_a_file ? std::optional<std::filesystem::path>(name) : std::nullopt;
}

Error unknown(const std::string& name, std::vector<std::string> known) {
  known.insert(known.end(), {"MODEL", "MODEL:LABEL"});
  return Error(ErrorCode::invalid_request, fmt::format("reward is '{}', allowed: {}", name, fmt::join(known, ", ")),
               "MODEL is a classifier or a process reward: a GGUF file, or a name that `pgdlm models` lists");
}

Aggregation parse_aggregation(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Aggregation>, 4> known = {{{"last", Aggregation::last},
                                                                              {"min", Aggregation::min},
                                                                              {"prod", Aggregation::prod},
                                                                              {"mean", Aggregation::mean}}};
  if (name.empty()) return Aggregation::last;
  for (const auto& [word, value] : known)
    if (name == word) return value;
  throw Error(ErrorCode::invalid_request,
              fmt::format("reward: steps joined by '{}', allowed: last, min, prod, mean", name));
}

std::unique_ptr<TextReward> load_text_reward(const std::filesystem::path& path, const std::string& argument,
                                             const ModelOptions& options) {
  std::shared_ptr<Model> model = Model::load(path, options);
  if (model->role() == Role::classifier) return make_classifier_reward(std::move(model), argument);
  if (model->role() == Role::process_reward) return make_process_reward(std::move(model), parse_aggregation(argument));
  throw Error(ErrorCode::invalid_request, fmt::format("reward: {} is a {}, expected a classifier or a process reward",
                                                      model->file()->path(), role_name(model->role())));
}

}  // namespace

std::unique_ptr<TextReward> open_text_reward(const std::string& name, const ModelOptions& options) {
  const auto [model, argument] = parse_name(name);
  const auto path = find_reward_model(model);
  if (!path) throw unknown(name, {});
  return load_text_reward(*path, argument, options);
}

std::shared_ptr<Reward> open_reward(const std::string& name, std::shared_ptr<const LanguageModel> writer,
                                    const ModelOptions& options) {
  if (name == "none") return nullptr;
  if (std::shared_ptr<Reward> own = writer->own_reward(name)) return own;
  const auto [model, argument] = parse_name(name);
  const auto path = find_reward_model(model);
  if (!path) {
    std::vector<std::string> known = writer->own_rewards();
    known.insert(known.begin(), "none");
    throw unknown(name, std::move(known));
  }
  return make_passage_reward(std::move(writer), load_text_reward(*path, argument, options));
}

}  // namespace pgdlm
