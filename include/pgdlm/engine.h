// Many requests share one denoiser. The thread that calls run() is the coordinator: it resumes samplers and fills
// two lanes, predict and score, each with a worker of its own; it never computes.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>

#include "pgdlm/answer.h"
#include "pgdlm/request.h"

namespace pgdlm {

struct EngineOptions {
  int threads = 2;   // 1: lanes run on the coordinator; more: a worker for each lane, and so many to read predictions
  bool memo = true;  // reuse predictions and rewards; results do not depend on it
  std::size_t memo_bytes = std::size_t{256} << 20;
  int max_batch = 64;  // states per forward
  int share = 8;       // of one request in a batch while others run too: nobody waits long behind a large one
};

// What a lane has done so far.
struct LaneStats {
  std::int64_t batches = 0, rows = 0;
  std::int64_t mixed_batches = 0, mixed_rows = 0;  // of those that served several requests
};
struct EngineStats {
  int requests = 0;  // running now
  LaneStats predict, score;
};

using Ticket = std::uint64_t;
// Called on the coordinator's thread: the answer, or the error that ended this request.
using Finished = std::function<void(Ticket, std::exception_ptr, Answer)>;

class Engine {
 public:
  Engine(std::shared_ptr<Denoiser>, EngineOptions);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Validates (Error{invalid_request}) and queues. Any thread. The sink must live until `finished` is called.
  Ticket submit(Request, EventSink&, Finished);
  void cancel(Ticket);        // any thread; the request ends soon with Status::cancelled and the best it has
  void run(std::stop_token);  // until stopped
  void run_until_idle();      // until every submitted request has finished
  EngineStats stats() const;  // any thread

  // submit, run, return: for one request at a time.
  Answer generate(Request, EventSink&);
  Answer generate(Request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pgdlm
