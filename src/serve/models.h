// The models that are served, by name. A model is opened when it is first asked for and stays; each has an engine of
// its own, in which all requests for it are batched together.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "catalog/language_model.h"
#include "options/options.h"
#include "pgdlm/engine.h"

namespace pgdlm::serve {

// What is known of a model before it is opened.
struct ModelCard {
  std::string name;
  std::string process;
  bool chat = false;
  int context = 0;
};

// A model that scores, and its labels (none: a process reward).
struct RewardCard {
  std::string name;
  std::vector<std::string> labels;
};

class ServedModel {
 public:
  ServedModel(std::string name, std::shared_ptr<const LanguageModel> language, std::shared_ptr<Denoiser> denoiser,
              EngineOptions options);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const LanguageModel>& language() const { return language_; }
  Engine& engine() { return engine_; }

 private:
  std::string name_;
  std::shared_ptr<const LanguageModel> language_;
  Engine engine_;
  std::jthread coordinator_;  // last: it stands still before the engine goes
};

struct ModelsOptions {
  std::vector<std::string> names;  // the first is the default; none: default_model() and every denoiser on a shelf
  GenerateOptions defaults;        // guidance is the same for all requests
  ModelOptions device;
  int threads = 1;
  int max_batch = 64;
};

// The cards are read at the start and never change; any thread.
class Models {
 public:
  explicit Models(ModelsOptions options);  // Error if a model that was named cannot be opened

  const std::vector<ModelCard>& cards() const { return cards_; }  // the default first
  const std::vector<RewardCard>& rewards() const { return rewards_; }
  // Empty: the default. ApiError{404} if it is not served.
  const ModelCard& find(const std::string& name) const;
  std::shared_ptr<ServedModel> open(const std::string& name);
  std::shared_ptr<ServedModel> opened(const std::string& name) const;  // null: not yet
  std::vector<std::shared_ptr<ServedModel>> opened() const;

 private:
  void survey(const std::string& name);

  ModelsOptions options_;
  std::vector<ModelCard> cards_;
  std::vector<RewardCard> rewards_;
  std::mutex opening_;
  mutable std::mutex mutex_;  // guards the map alone
  std::map<std::string, std::shared_ptr<ServedModel>> opened_;
};

}  // namespace pgdlm::serve
