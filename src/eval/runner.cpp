#include "eval/runner.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "catalog/shelf.h"
#include "eval/diagnostics.h"
#include "eval/mark.h"
#include "eval/result.h"
#include "options/process.h"
#include "options/request.h"
#include "pgdlm/engine.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::size_t kInFlight = 32;  // requests that share batches

// Where an item is from.
struct Place {
  const Order* order = nullptr;
  int number = 0;

  const GenerateOptions& item() const { return order->items[number]; }
};

// All that is asked of one engine. Its callbacks run on the thread that called run(), end() on any.
class Flight {
 public:
  using MakeRequest = std::function<Request(const Place&)>;
  using Keep = std::function<void(const Place&, const Answer&, const std::vector<SweepFacts>&)>;
  Flight(Engine& engine, std::deque<Place> places, MakeRequest make_request, Keep keep)
      : engine_(engine), waiting_(std::move(places)), make_request_(std::move(make_request)), keep_(std::move(keep)) {}

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
    const Place place = waiting_.front();
    waiting_.pop_front();
    const auto sink = std::make_shared<DiagnosticsSink>();
    const auto landed = [this, place, sink](Ticket ticket, const std::exception_ptr& error, const Answer& answer) {
      land(ticket, place, error, answer, sink->sweeps());
    };
    aloft_.insert(engine_.submit(make_request_(place), *sink, landed));
  }

  void land(Ticket ticket, const Place& place, const std::exception_ptr& error, const Answer& answer,
            const std::vector<SweepFacts>& sweeps) {
    try {
      {
        const std::lock_guard lock(mutex_);
        aloft_.erase(ticket);
      }
      if (error) std::rethrow_exception(error);
      if (answer.status != Status::cancelled) keep_(place, answer, sweeps);
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
  std::deque<Place> waiting_;
  MakeRequest make_request_;
  Keep keep_;
  std::mutex mutex_;
  std::set<Ticket> aloft_;
  bool ended_ = false;
  std::exception_ptr error_;
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

std::shared_ptr<const LanguageModel> Runner::model(const std::string& name) { return bench(name).model; }

GenerateOptions Runner::settled(GenerateOptions options) {
  Bench& at = bench(options.model);
  const Reward* reward = at.reward(options.reward, options_.rewards).get();
  return pgdlm::settled(std::move(options), at.model->defaults(), reward);
}

std::vector<std::string> Runner::without_effect(const GenerateOptions& options) {
  Bench& at = bench(options.model);
  return pgdlm::without_effect(options, at.model->defaults(), at.reward(options.reward, options_.rewards).get());
}

std::string Runner::files_mark(const GenerateOptions& options) {
  std::string marks = fmt::format("mask {}", bench(options.model).model->mask());
  if (const auto path = seek_model(options.model)) marks += ", " + file_mark(*path);
  for (const std::filesystem::path& path : reward_files(options.reward)) marks += ", " + file_mark(path);
  return marks;
}

void Runner::trace(const GenerateOptions& item, EventSink& events) {
  Bench& at = bench(item.model);
  Request request = make_request(item, *at.model, at.reward(item.reward, options_.rewards));
  request.trace = true;
  at.engine(item, options_.threads).generate(std::move(request), events);
}

void Runner::run(const std::vector<Order>& orders, RunStore& store, const Progress& progress,
                 const std::stop_token& stop) {
  std::size_t done = 0, all = 0;
  // Items of one engine fly together.
  std::vector<std::pair<Engine*, std::deque<Place>>> groups;
  for (const Order& order : orders) {
    const std::map<int, StoredItem> known = store.items(order.run);
    done += known.size();
    all += order.items.size();
    for (int number = 0; number < static_cast<int>(order.items.size()); ++number) {
      if (known.contains(number)) continue;
      const GenerateOptions& item = order.items[number];
      Engine& engine = bench(item.model).engine(item, options_.threads);
      auto group = std::ranges::find(groups, &engine, &std::pair<Engine*, std::deque<Place>>::first);
      if (group == groups.end()) group = groups.insert(group, {&engine, {}});
      group->second.push_back({&order, number});
    }
  }
  progress(done, all);
  for (auto& [engine, places] : groups) {
    // Items of one number are often one question, asked in many ways: side by side, what they share is in the memo.
    std::ranges::stable_sort(places, {}, &Place::number);
    Bench& at = bench(places.front().item().model);
    const auto request = [&](const Place& place) {
      return make_request(place.item(), *at.model, at.reward(place.item().reward, options_.rewards));
    };
    const auto keep = [&](const Place& place, const Answer& answer, const std::vector<SweepFacts>& sweeps) {
      const Effort effort = {.seconds = answer.cost.seconds,
                             .forwards_run = answer.cost.forwards_run,
                             .rewards_run = answer.cost.rewards_run};
      store.add(place.order->run, place.number, {to_json(result_of(answer, sweeps, *at.model)), effort});
      progress(++done, all);
    };
    Flight(*engine, std::move(places), request, keep).run(stop);
    if (stop.stop_requested()) return;
  }
}

}  // namespace pgdlm
