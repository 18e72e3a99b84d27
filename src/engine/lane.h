// A lane: the queue in front of one resource (the denoiser, the rewards) and the thread that serves it. When it falls
// idle it takes whatever waits, from all requests in turn; there are no timers. Equal jobs share one run, whether they
// wait, are being run, or were answered before (memo).
//
// Owned by the engine. The coordinator enqueues; one thread works: the lane's own, or the coordinator itself. Values
// (predictions) are made, kept and dropped on the working thread, which may have others read them while it waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "diffusion/memo.h"
#include "pgdlm/engine.h"
#include "pgdlm/events.h"

namespace pgdlm {

// What a suspended coroutine waits for: the jobs it handed to a lane at once. It lives in the coroutine's frame; from
// enqueue until it is settled, only the working thread touches it.
struct Call {
  std::uint64_t request = 0;
  std::uint64_t bucket = 0;  // jobs of different buckets never share a run; one bucket per request and lane
  std::coroutine_handle<> waiter;
  std::size_t open = 0;      // jobs that are neither done nor failed
  std::exception_ptr error;  // the first
  Cost cost;                 // of the runs this call was the first to ask for
  HashSet* asked = nullptr;  // what the request has asked this lane for; may be null
  Cost needed;               // of what was new to it
  bool alone = false;        // its jobs share a run with no other
};

struct LaneOptions {
  std::size_t max_batch = 64;  // jobs in one run
  bool memo = true;            // false: every job is run by itself, nothing is shared
  std::size_t memo_bytes = 0;
  bool own_thread = false;  // false: somebody calls work()
  std::size_t share = 64;   // jobs of one request in a run while there are others
};

// A Trade says what is done in a lane:
//   using Job, Value;                                  a Job is copied: pointers to what its owner keeps
//   MemoKey key(const Job&) const;                     any thread; equal keys, equal values in any company
//   std::vector<Value> run(const std::vector<Job>&);   one value each, or throws: then all of them fail
//   std::size_t prepare(std::span<const Handing>);     how many of these can be delivered now, at least one
//   std::vector<std::exception_ptr> deliver(std::span<const Handing>);   of each, why it failed; null: it did not
//   void charge(const Job&, Cost&) const;              what running this job costs
//   std::size_t bytes(const Value&) const;
template <class Job, class Value>
struct Handing {  // a value on its way to a job that asked for it
  const Job* job;
  const Value* value;
};

template <class Trade>
class Lane {
 public:
  using Job = typename Trade::Job;
  using Value = typename Trade::Value;

  // `settled` is called on the working thread when a call has no open job left.
  Lane(Trade trade, LaneOptions options, std::function<void(Call&)> settled)
      : trade_(std::move(trade)), options_(options), settled_(std::move(settled)), memo_(options.memo_bytes) {
    if (options_.own_thread) thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // At least one job. What they point to must live until the call is settled.
  void enqueue(Call& call, const std::vector<Job>& jobs) {
    call.open = jobs.size();
    std::vector<GroupPtr> groups;  // keys are hashed before the lock is taken
    for (const Job& job : jobs) {
      groups.push_back(std::make_shared<Group>(key(job, call.alone), Asker{job, &call}));
      if (call.asked != nullptr && call.asked->insert(groups.back()->key.hash).second) trade_.charge(job, call.needed);
    }
    {
      const std::lock_guard lock(mutex_);
      Line& line = lines_[call.request];
      line.bucket = call.bucket;
      line.alone = call.alone;
      for (const GroupPtr& group : groups) line_up(line, group);
    }
    wake_.notify_one();
  }

  // How many requests there are, waiting here or not.
  void set_company(int requests) { company_ = requests; }

  LaneStats stats() const {
    return {.batches = batches_, .rows = rows_, .mixed_batches = mixed_batches_, .mixed_rows = mixed_rows_};
  }

  // Serves one batch. False if nothing waited.
  bool work() {
    const Batch batch = take();
    for (Call* call : batch.dropped) settle(*call);
    std::vector<Delivery> known;
    for (const Known& k : batch.known) add_deliveries(k.askers, k.value, known);
    deliver(known);  // before the run: they need not wait
    if (!batch.runs.empty()) run(batch.runs);
    return !(batch.dropped.empty() && batch.known.empty() && batch.runs.empty());
  }

 private:
  struct Asker {
    Job job;
    Call* call;
  };
  // All who wait for the same value. `askers` may grow until the group is closed, even while it is being run.
  struct Group {
    Group(MemoKey k, Asker first) : key(std::move(k)), askers{std::move(first)} {}
    MemoKey key;
    std::vector<Asker> askers;
    bool taken = false;
  };
  using GroupPtr = std::shared_ptr<Group>;  // it stands in the line of every request that waits for it
  struct Line {
    std::uint64_t bucket = 0;
    bool alone = false;
    std::deque<GroupPtr> waiting;
  };
  struct Known {
    std::vector<Asker> askers;
    Value value;
  };
  struct Turn {
    GroupPtr group;
    Asker first;
  };
  struct Delivery {
    const Asker* asker;
    const Value* value;
  };
  struct Batch {
    std::vector<Call*> dropped;
    std::vector<Known> known;
    std::vector<Turn> runs;
  };

  // What ran alone is kept apart: its last bits may be others.
  MemoKey key(const Job& job, bool alone) const {
    constexpr std::int32_t kAlone = -1;  // no key ends with it
    MemoKey key = trade_.key(job);
    if (!alone) return key;
    key.words.push_back(kAlone);
    return MemoKey(std::move(key.words));
  }

  void line_up(Line& line, const GroupPtr& group) {
    if (options_.memo) {
      const auto [same, alone] = open_.emplace(&group->key, group);
      if (!alone) {
        Group& other = *same->second;
        const Asker& asker = group->askers.front();
        const bool in_line = other.taken || other.askers.back().call == asker.call;
        other.askers.push_back(asker);
        if (!in_line) line.waiting.push_back(same->second);
        return;
      }
    }
    line.waiting.push_back(group);
  }

  // One group from each request in turn, until the run is full, or each has had its share, or nothing fits. The first
  // one to be run decides the bucket, and whether it is alone; the next batch begins behind that request, or with
  // the first one that was passed over, so every request and every bucket gets its turn to begin.
  Batch take() {
    const std::lock_guard lock(mutex_);
    Batch batch;
    std::vector<std::pair<std::uint64_t, Line*>> ring;
    for (auto it = lines_.upper_bound(began_); it != lines_.end(); ++it) ring.emplace_back(it->first, &it->second);
    for (auto it = lines_.begin(); it != lines_.upper_bound(began_); ++it) ring.emplace_back(it->first, &it->second);

    std::uint64_t bucket = 0;
    const std::size_t most_rounds = company_ > 1 ? options_.share : options_.max_batch;
    bool more = true, alone = false, passed_over = false;
    for (std::size_t rounds = 0; more && rounds < most_rounds;) {
      more = false;
      const std::size_t before = batch.runs.size();
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const auto& [request, line] = ring[i];
        const bool full = alone || batch.runs.size() == options_.max_batch;
        if (full || (!batch.runs.empty() && (line->bucket != bucket || line->alone))) {
          if (rounds == 0 && !std::exchange(passed_over, true)) began_ = ring[i - 1].first;
          continue;
        }
        const GroupPtr group = next_in(*line, batch.dropped);
        if (!group) continue;
        more = true;
        if (const Value* value = options_.memo ? memo_.find(group->key) : nullptr) {
          open_.erase(&group->key);
          batch.known.push_back({std::move(group->askers), *value});
          continue;
        }
        if (batch.runs.empty()) {
          bucket = line->bucket;
          alone = line->alone;
          began_ = request;
        }
        batch.runs.push_back({group, group->askers.front()});
      }
      if (batch.runs.size() > before) ++rounds;  // what was known already costs nobody a share
    }
    std::erase_if(lines_, [](const auto& line) { return line.second.waiting.empty(); });
    return batch;
  }

  // Calls that failed already lose what they still have in line: nobody would look at it.
  GroupPtr next_in(Line& line, std::vector<Call*>& dropped) {
    while (!line.waiting.empty()) {
      GroupPtr group = std::move(line.waiting.front());
      line.waiting.pop_front();
      if (group->taken) continue;
      std::erase_if(group->askers, [&](const Asker& asker) {
        if (asker.call->error) dropped.push_back(asker.call);
        return asker.call->error != nullptr;
      });
      group->taken = true;
      if (!group->askers.empty()) return group;
      if (options_.memo) open_.erase(&group->key);
    }
    return nullptr;
  }

  void run(const std::vector<Turn>& turns) {
    std::vector<Job> jobs;
    for (const Turn& turn : turns) jobs.push_back(turn.first.job);
    std::vector<Value> values;
    std::exception_ptr error;
    try {
      values = trade_.run(jobs);
    } catch (...) {
      error = std::current_exception();
    }
    if (error && mixed(turns)) return run_apart(turns);
    count(turns);
    for (const Turn& turn : turns) trade_.charge(turn.first.job, turn.first.call->cost);
    if (error) return fail(turns, std::move(error));
    std::vector<std::vector<Asker>> askers;
    for (const Turn& turn : turns) askers.push_back(close(*turn.group));
    std::vector<Delivery> deliveries;
    for (std::size_t i = 0; i < turns.size(); ++i) add_deliveries(askers[i], values[i], deliveries);
    deliver(deliveries);
    for (std::size_t i = 0; options_.memo && i < turns.size(); ++i)
      memo_.insert(std::move(turns[i].group->key), values[i], trade_.bytes(values[i]));
  }

  static bool mixed(const std::vector<Turn>& turns) {
    const std::uint64_t first = turns[0].first.call->request;
    return std::ranges::any_of(turns, [&](const Turn& turn) { return turn.first.call->request != first; });
  }

  // What one request asks for must not fail the others.
  void run_apart(const std::vector<Turn>& turns) {
    std::map<std::uint64_t, std::vector<Turn>> apart;
    for (const Turn& turn : turns) apart[turn.first.call->request].push_back(turn);
    for (const auto& [request, own] : apart) run(own);
  }

  void count(const std::vector<Turn>& turns) {
    const auto rows = static_cast<std::int64_t>(turns.size());
    ++batches_;
    rows_ += rows;
    mixed_batches_ += mixed(turns) ? 1 : 0;
    mixed_rows_ += mixed(turns) ? rows : 0;
  }

  // From here on nobody can join the group.
  std::vector<Asker> close(Group& group) {
    const std::lock_guard lock(mutex_);
    if (options_.memo) open_.erase(&group.key);
    return std::move(group.askers);
  }

  static void add_deliveries(const std::vector<Asker>& askers, const Value& value, std::vector<Delivery>& deliveries) {
    for (const Asker& asker : askers) deliveries.push_back({&asker, &value});
  }

  // As many at a time as the trade can prepare together. What could not be prepared fails alone.
  void deliver(std::span<const Delivery> deliveries) {
    while (!deliveries.empty()) {
      std::vector<Handing<Job, Value>> handings;
      for (const Delivery& d : deliveries.first(together(deliveries))) handings.push_back({&d.asker->job, d.value});
      std::size_t ready = 1;
      std::vector<std::exception_ptr> failures;
      try {
        ready = trade_.prepare(handings);
        failures = trade_.deliver(std::span(handings).first(ready));
      } catch (...) {
        failures.assign(ready, std::current_exception());
      }
      for (std::size_t i = 0; i < ready; ++i) {
        Call& call = *deliveries[i].asker->call;
        if (failures[i] && !call.error) call.error = std::move(failures[i]);
        failures[i] = nullptr;  // the exception now belongs to the call
        settle(call);
      }
      deliveries = deliveries.subspan(ready);
    }
  }

  // How many, from the first on, may be prepared with each other: of those that are alone, one.
  static std::size_t together(std::span<const Delivery> deliveries) {
    const auto alone = [](const Delivery& d) { return d.asker->call->alone; };
    const auto first = std::ranges::find_if(deliveries, alone);
    return std::max<std::ptrdiff_t>(1, first - deliveries.begin());
  }

  void fail(const std::vector<Turn>& turns, std::exception_ptr error) {
    std::vector<Asker> askers;
    for (const Turn& turn : turns) {
      for (const Asker& asker : close(*turn.group)) askers.push_back(asker);
    }
    for (const Asker& asker : askers) {
      if (!asker.call->error) asker.call->error = error;
    }
    error = nullptr;  // the exception now belongs to the calls: they may read it while this thread goes on
    for (const Asker& asker : askers) settle(*asker.call);
  }

  // The last job of a call may wake its coroutine at once: the call is not touched afterwards.
  void settle(Call& call) {
    if (--call.open == 0) settled_(call);
  }

  void serve(const std::stop_token& stop) {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, stop, [this] { return !lines_.empty(); });
        if (stop.stop_requested()) return;
      }
      work();
    }
  }

  Trade trade_;
  LaneOptions options_;
  std::function<void(Call&)> settled_;

  std::mutex mutex_;  // guards the next three, and the askers of open groups
  std::condition_variable_any wake_;
  std::map<std::uint64_t, Line> lines_;  // by request; none is empty outside the lock
  KeyIndex<GroupPtr> open_;              // groups that can be joined

  std::atomic<int> company_{1};
  std::atomic<std::int64_t> batches_{0}, rows_{0}, mixed_batches_{0}, mixed_rows_{0};
  std::uint64_t began_ = 0;  // the request whose job was first in the last run
  Memo<Value> memo_;
  std::jthread thread_;  // last: joined before anything above goes
};

}  // namespace pgdlm
