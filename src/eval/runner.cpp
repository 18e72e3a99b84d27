#include "eval/runner.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "catalog/shelf.h"
#include "diffusion/memo.h"
#include "eval/result.h"
#include "events/sinks.h"
#include "options/process.h"
#include "options/request.h"
#include "pgdlm/engine.h"
#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

constexpr std::size_t kInFlight = 32;  // requests that share batches

// Size and a sample of the bytes: weights differ everywhere, so there is no need to read gigabytes.
std::string file_mark(const std::filesystem::path& path) {
  constexpr std::int64_t kSamples = 64, kWords = 1024;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = in ? static_cast<std::int64_t>(in.tellg()) : 0;
  std::vector<std::int32_t> words;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    std::vector<std::int32_t> piece(kWords);
    in.clear();
    in.seekg(size * i / kSamples);
    in.read(reinterpret_cast<char*>(piece.data()), kWords * sizeof(std::int32_t));
    words.insert(words.end(), piece.begin(), piece.end());
  }
  const Hash128 hash = hash_words(words);
  return fmt::format("{} {} {:016x}{:016x}", valid_utf8(path.filename().string()), size, hash.high, hash.low);
}

// All that is asked of one engine. Its callbacks run on the thread that called run(), end() on any.
class Flight {
 public:
  using MakeRequest = std::function<Request(int number)>;
  using Keep = std::function<void(int number, const Answer&)>;
  Flight(Engine& engine, std::deque<int> numbers, MakeRequest make_request, Keep keep)
      : engine_(engine), waiting_(std::move(numbers)), make_request_(std::move(make_request)), keep_(std::move(keep)) {}

  void run(const std::stop_token& stop) {
    const std::stop_callback cancel_all(stop, [this] { end(nullptr); });
    try {
      for (std::size_t i = 0; i < kInFlight; ++i) launch();
    } catch (...) {
      end(std::current_exception());
    }
    engine_.run_until_idle();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void launch() {
    const std::lock_guard lock(mutex_);
    if (ended_ || waiting_.empty()) return;
    const int number = waiting_.front();
    waiting_.pop_front();
    aloft_.insert(engine_.submit(make_request_(number), nowhere_,
                                 [this, number](Ticket ticket, const std::exception_ptr& error, const Answer& answer) {
                                   land(ticket, number, error, answer);
                                 }));
  }

  void land(Ticket ticket, int number, const std::exception_ptr& error, const Answer& answer) {
    try {
      {
        const std::lock_guard lock(mutex_);
        aloft_.erase(ticket);
      }
      if (error) std::rethrow_exception(error);
      if (answer.status != Status::cancelled) keep_(number, answer);
      launch();
    } catch (...) {
      end(std::current_exception());
    }
  }

  // Nothing new is begun, and what is aloft ends soon.
  void end(const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (!ended_) error_ = error;  // what breaks in the end is no reason for it
    ended_ = true;
    for (const Ticket ticket : aloft_) engine_.cancel(ticket);
  }

  Engine& engine_;
  std::deque<int> waiting_;
  MakeRequest make_request_;
  Keep keep_;
  std::mutex mutex_;
  std::set<Ticket> aloft_;
  bool ended_ = false;
  std::exception_ptr error_;
  NullSink nowhere_;
};

}  // namespace

struct Runner::Bench {
  std::shared_ptr<const LanguageModel> model;
  std::map<std::string, std::shared_ptr<Reward>> rewards;  // by expression; null: none
  std::map<double, std::unique_ptr<Engine>> engines;       // by the scale of guidance

  const std::shared_ptr<Reward>& reward(const std::string& expression, const RewardOptions& options) {
    const auto found = rewards.find(expression);
    if (found != rewards.end()) return found->second;
    return rewards[expression] = open_reward(expression, model, options);
  }
  Engine& engine(const GenerateOptions& asked, int threads) {
    std::unique_ptr<Engine>& engine = engines[asked.diffusion_cfg_scale.value_or(0)];
    if (!engine) engine = std::make_unique<Engine>(make_denoiser(asked, *model), EngineOptions{.threads = threads});
    return *engine;
  }
};

Runner::Runner(RunnerOptions options) : options_(std::move(options)) {}
Runner::~Runner() = default;

Runner::Bench& Runner::bench(const std::string& model) {
  std::unique_ptr<Bench>& bench = benches_[model];
  if (!bench) bench = std::make_unique<Bench>(Bench{.model = open_language_model(model, options_.rewards.models)});
  return *bench;
}

GenerateOptions Runner::settled(GenerateOptions options) {
  Bench& at = bench(options.model);
  const Reward* reward = at.reward(options.reward, options_.rewards).get();
  return pgdlm::settled(std::move(options), at.model->defaults(), reward);
}

std::string Runner::files_mark(const GenerateOptions& options) {
  std::string marks = fmt::format("mask {}", bench(options.model).model->mask());
  if (const auto path = seek_model(options.model)) marks += ", " + file_mark(*path);
  for (const std::filesystem::path& path : reward_files(options.reward)) marks += ", " + file_mark(path);
  return marks;
}

void Runner::run(const std::vector<GenerateOptions>& items, RunStore& store, const StoredRun& run,
                 const Progress& progress, const std::stop_token& stop) {
  const std::map<int, StoredItem> known = store.items(run);
  std::size_t done = known.size();
  progress(done, items.size());
  // Items of one engine fly together; the order within it is that of the plan.
  std::vector<std::pair<Engine*, std::deque<int>>> groups;
  for (int number = 0; number < static_cast<int>(items.size()); ++number) {
    if (known.contains(number)) continue;
    Engine& engine = bench(items[number].model).engine(items[number], options_.threads);
    auto group = std::ranges::find(groups, &engine, &std::pair<Engine*, std::deque<int>>::first);
    if (group == groups.end()) group = groups.insert(group, {&engine, {}});
    group->second.push_back(number);
  }
  for (auto& [engine, numbers] : groups) {
    Bench& at = bench(items[numbers.front()].model);
    const auto request = [&](int number) {
      return make_request(items[number], *at.model, at.reward(items[number].reward, options_.rewards));
    };
    const auto keep = [&](int number, const Answer& answer) {
      const Effort effort = {.seconds = answer.cost.seconds,
                             .forwards_run = answer.cost.forwards_run,
                             .rewards_run = answer.cost.rewards_run};
      store.add(run, number, {to_json(result_of(answer, *at.model)), effort});
      progress(++done, items.size());
    };
    Flight(*engine, std::move(numbers), request, keep).run(stop);
    if (stop.stop_requested()) return;
  }
}

}  // namespace pgdlm
