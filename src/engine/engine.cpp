#include "pgdlm/engine.h"

#include <atomic>
#include <map>

#include "engine/mailbox.h"
#include "engine/reward_ids.h"
#include "engine/running.h"
#include "engine/validate.h"
#include "events/sinks.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

void check_options(const Denoiser* denoiser, const EngineOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::invalid_request, what); };
  if (denoiser == nullptr) refuse("denoiser is missing");
  constexpr int kMostThreads = 512;
  if (options.threads < 1 || options.threads > kMostThreads)
    refuse("threads is " + std::to_string(options.threads) + ", allowed: 1 to " + std::to_string(kMostThreads));
  if (options.max_batch < 1) refuse("max-batch is " + std::to_string(options.max_batch) + ", allowed: at least 1");
  if (options.share < 1) refuse("share is " + std::to_string(options.share) + ", allowed: at least 1");
}

// A score is a few bytes, a prediction may be megabytes.
LaneOptions lane_options(const EngineOptions& options, std::size_t memo_bytes) {
  return {.max_batch = static_cast<std::size_t>(options.max_batch),
          .memo = options.memo,
          .memo_bytes = memo_bytes,
          .own_thread = options.threads > 1,
          .share = static_cast<std::size_t>(options.share)};
}
std::size_t score_bytes(const EngineOptions& options) { return options.memo_bytes / 16; }
std::size_t prediction_bytes(const EngineOptions& options) { return options.memo_bytes - score_bytes(options); }

}  // namespace

struct Engine::Impl {
  Impl(std::shared_ptr<Denoiser> d, EngineOptions o)
      : denoiser(std::move(d)),
        options(o),
        predict_lane(PredictTrade(denoiser, o.threads), lane_options(o, prediction_bytes(o)), post_settled()),
        score_lane(ScoreTrade(), lane_options(o, score_bytes(o)), post_settled()) {}

  std::function<void(Call&)> post_settled() {
    return [this](Call& call) { mailbox.post_settled(call); };
  }

  Ticket submit(Request request, EventSink& events, Finished finished);
  bool turn();
  void open(Mail mail);
  void conclude_if_done(Ticket ticket);
  void tell_company();
  bool idle() { return running.empty() && mailbox.empty(); }
  template <class Done>
  void coordinate(const std::stop_token& stop, Done&& done);

  std::shared_ptr<Denoiser> denoiser;
  EngineOptions options;
  std::atomic<Ticket> last_ticket{0};
  std::atomic<bool> coordinated{false};
  std::atomic<int> company{0};  // requests that run
  Mailbox mailbox;
  RewardIds reward_ids;
  std::exception_ptr callers_error;
  std::map<Ticket, std::unique_ptr<Running>> running;
  PredictLane predict_lane;  // behind what they work on: their threads stand still before it goes
  ScoreLane score_lane;
};

namespace {

// There is one coordinator at a time.
class Role {
 public:
  explicit Role(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true)) {
      throw Error(ErrorCode::invalid_request,
                  "this engine is already being run, by another thread or further up in this one",
                  "submit to it instead");
    }
  }
  ~Role() { taken_ = false; }
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

 private:
  std::atomic<bool>& taken_;
};

}  // namespace

Ticket Engine::Impl::submit(Request request, EventSink& events, Finished finished) {
  validate(request, *denoiser);
  const Ticket ticket = ++last_ticket;
  mailbox.post({ticket, std::move(request), &events, std::move(finished)});
  return ticket;
}

// Whatever can be done now. False if only a lane, a submitter or nobody at all can bring more to do.
bool Engine::Impl::turn() {
  if (Mail mail = mailbox.take(); !mail.empty()) {
    open(std::move(mail));
    if (callers_error) std::rethrow_exception(std::exchange(callers_error, nullptr));
    return true;
  }
  if (options.threads > 1) return false;
  const bool predicted = predict_lane.work();  // every sampler that could go on has done so: the batch is full
  const bool scored = score_lane.work();
  return predicted || scored;
}

void Engine::Impl::open(Mail mail) {
  std::vector<Ticket> fresh;
  for (Arrival& arrival : mail.arrivals) {
    fresh.push_back(arrival.ticket);
    const std::uint64_t reward_id = arrival.request.reward ? reward_ids.of(arrival.request.reward) : 0;
    running.emplace(fresh.back(),
                    std::make_unique<Running>(std::move(arrival), predict_lane, score_lane, *denoiser, reward_id));
  }
  tell_company();
  for (const Ticket ticket : mail.cancels) {  // before the start: what was cancelled in time computes nothing
    if (const auto found = running.find(ticket); found != running.end()) found->second->cancel();
  }
  for (const Ticket ticket : fresh) {
    running.at(ticket)->start();
    conclude_if_done(ticket);
  }
  for (const Call* call : mail.settled) {
    const Ticket ticket = call->request;  // the call is gone once its coroutine goes on
    call->waiter.resume();
    conclude_if_done(ticket);
  }
}

void Engine::Impl::tell_company() {
  company = static_cast<int>(running.size());
  predict_lane.set_company(company);
  score_lane.set_company(company);
}

// What a caller's `finished` throws must not keep the rest of the mail from being read: turn() rethrows it afterwards.
void Engine::Impl::conclude_if_done(Ticket ticket) {
  const auto found = running.find(ticket);
  if (!found->second->done()) return;
  const std::unique_ptr<Running> ended = std::move(found->second);
  running.erase(found);
  tell_company();
  try {
    ended->conclude();
  } catch (...) {
    if (!callers_error) callers_error = std::current_exception();
  }
}

template <class Done>
void Engine::Impl::coordinate(const std::stop_token& stop, Done&& done) {
  while (!stop.stop_requested() && !done()) {
    if (!turn() && !done()) mailbox.wait(stop);
  }
}

Engine::Engine(std::shared_ptr<Denoiser> denoiser, EngineOptions options) {
  check_options(denoiser.get(), options);
  impl_ = std::make_unique<Impl>(std::move(denoiser), options);
}

Engine::~Engine() = default;

Ticket Engine::submit(Request request, EventSink& events, Finished finished) {
  return impl_->submit(std::move(request), events, std::move(finished));
}

void Engine::cancel(Ticket ticket) { impl_->mailbox.post_cancel(ticket); }

EngineStats Engine::stats() const {
  return {.requests = impl_->company, .predict = impl_->predict_lane.stats(), .score = impl_->score_lane.stats()};
}

void Engine::run(std::stop_token stop) {
  const Role role(impl_->coordinated);
  impl_->coordinate(stop, [] { return false; });
}

void Engine::run_until_idle() {
  const Role role(impl_->coordinated);
  impl_->coordinate({}, [this] { return impl_->idle(); });
}

Answer Engine::generate(Request request, EventSink& events) {
  const Role role(impl_->coordinated);
  bool done = false;
  std::exception_ptr error;
  Answer answer;
  impl_->submit(std::move(request), events, [&](Ticket, std::exception_ptr e, Answer a) {
    done = true;
    error = std::move(e);
    answer = std::move(a);
  });
  impl_->coordinate({}, [&] { return done; });
  if (error) std::rethrow_exception(error);
  return answer;
}

Answer Engine::generate(Request request) {
  NullSink nowhere;
  return generate(std::move(request), nowhere);
}

}  // namespace pgdlm
