// How other threads reach the coordinator: submitters with requests, lanes with settled calls. Owned by the engine.
// Anything may be posted by any thread; only the coordinator takes and waits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/lane.h"
#include "pgdlm/engine.h"

namespace pgdlm {

struct Arrival {
  Ticket ticket = 0;
  Request request;
  EventSink* events = nullptr;
  Finished finished;
};

struct Mail {
  std::vector<Arrival> arrivals;
  std::vector<Ticket> cancels;
  std::vector<Call*> settled;

  bool empty() const { return arrivals.empty() && cancels.empty() && settled.empty(); }
};

class Mailbox {
 public:
  void post(Arrival arrival) {
    put([&](Mail& mail) { mail.arrivals.push_back(std::move(arrival)); });
  }
  void post_cancel(Ticket ticket) {
    put([&](Mail& mail) { mail.cancels.push_back(ticket); });
  }
  void post_settled(Call& call) {
    put([&](Mail& mail) { mail.settled.push_back(&call); });
  }

  Mail take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(mail_, {});
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return mail_.empty();
  }
  void wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, stop, [this] { return !mail_.empty(); });
  }

 private:
  template <class Put>
  void put(Put&& write) {
    {
      const std::lock_guard lock(mutex_);
      write(mail_);
    }
    arrived_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  Mail mail_;
};

}  // namespace pgdlm
