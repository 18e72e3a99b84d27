// Runs many requests, several at a time so that they share batches, and stores each answer as soon as it is there.
// Models and rewards are opened once. Used on one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "eval/store.h"
#include "options/options.h"
#include "pgdlm/events.h"
#include "rewards/open_reward.h"

namespace pgdlm {

struct RunnerOptions {
  RewardOptions rewards;  // and how GGUF files are loaded
  int threads = 2;
};

// Items of a run: item i has number i in the store.
struct Order {
  StoredRun run;
  std::vector<GenerateOptions> items;
};

class Runner {
 public:
  explicit Runner(RunnerOptions options);
  ~Runner();

  std::shared_ptr<const LanguageModel> model(const std::string& name);  // opened once
  // With every choice made: what a plan should hold.
  GenerateOptions settled(GenerateOptions options);
  std::vector<std::string> without_effect(const GenerateOptions& options);  // see options/request.h
  // What tells the model file and those of the reward from others of the same name.
  std::string files_mark(const GenerateOptions& options);

  // Those items that the store does not have yet, the first ones of all runs first. `progress` hears how many are done.
  // Stopped, it cancels what is in flight and returns; the same after an error of one item, which is then rethrown.
  // Whatever was finished is in the store.
  using Progress = std::function<void(std::size_t done, std::size_t all)>;
  void run(const std::vector<Order>& orders, RunStore& store, const Progress& progress, const std::stop_token& stop);

  // One item again, alone, with every event; the store is not touched.
  void trace(const GenerateOptions& item, EventSink& events);

 private:
  struct Bench;  // a model, its rewards, and an engine for each way of asking it
  Bench& bench(const std::string& model);

  RunnerOptions options_;
  std::map<std::string, std::unique_ptr<Bench>> benches_;
};

}  // namespace pgdlm
