#include "serve/completion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "events/json.h"
#include "pgdlm/error.h"
#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDraftEvery{100};  // for the eye
constexpr const char* kDone = "[DONE]";
constexpr std::size_t kMostKept = std::size_t{32} << 20;  // bytes of a stream, for those who come back

std::string sse(const char* name, std::int64_t id, const std::string& data) {
  std::string lines = fmt::format("id: {}\n", id);
  if (name != nullptr) lines += fmt::format("event: {}\n", name);
  return lines + fmt::format("data: {}\n\n", data);
}

// Is every token that was revealed there to stay, and the answer one of these particles?
bool keeps_tokens(const Choice& choice, bool vote) {
  const Method method = *choice.options.method;
  const bool one_sweep = method == Method::greedy || method == Method::best_of_n || method == Method::smc;
  return one_sweep && *choice.options.process != Process::remdm && !vote;
}

int particles_of(const Choice& choice) {
  return *choice.options.method == Method::greedy ? 1 : *choice.options.particles;
}

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// Tokens that an event names.
std::vector<Token> tokens_in(const Event& event) {
  std::vector<Token> tokens;
  if (const auto* started = std::get_if<RunStarted>(&event)) tokens = started->canvas;
  if (const auto* drafted = std::get_if<Drafted>(&event)) tokens = drafted->canvas;
  if (const auto* edited = std::get_if<Edited>(&event))
    for (const TimedEdit& timed : edited->edits) tokens.push_back(timed.edit.token);
  return tokens;
}

}  // namespace

Completion::Completion(Loop& loop, Order order, Signature signature, std::filesystem::path traces,
                       CompletionHooks hooks)
    : loop_(loop),
      order_(std::move(order)),
      signature_(std::move(signature)),
      traces_(std::move(traces)),
      hooks_(std::move(hooks)) {
  const Token mask = order_.model->language()->mask();
  for (const Choice& choice : order_.choices)
    lines_.push_back({.sink = nullptr,
                      .canvases = LiveCanvases(choice.request.canvas.tokens, choice.given, mask, particles_of(choice),
                                               keeps_tokens(choice, order_.ask.vote)),
                      .result = {}});
}

Completion::~Completion() = default;

void Completion::listen(const ExchangePtr& exchange) {
  listeners_.insert(exchange);
  watch(exchange);
  if (!streams()) return;
  hooks_.replied(200);
  exchange->begin_stream("text/event-stream", {{"X-Request-Id", signature_.id}});
  if (!order_.ask.chat) return;
  for (int i = 0; i < static_cast<int>(lines_.size()); ++i) send(nullptr, first_chunk(order_, signature_, i));
}

void Completion::rejoin(const ExchangePtr& exchange, std::int64_t after) {
  if (log_bytes_ > kMostKept) throw ApiError(410, "more has been said since than is kept", "after", "events_gone");
  exchange->begin_stream("text/event-stream", {{"X-Request-Id", signature_.id}});
  if (!ended_) {
    patience_.reset();
    listeners_.insert(exchange);
    watch(exchange);
  }
  for (const Message& message : log_)
    if (message.id > after) exchange->write(message.lines);
  if (ended_) exchange->end_stream();
}

void Completion::watch(const ExchangePtr& exchange) {
  exchange->on_gone([weak = weak_from_this(), raw = exchange.get()] {
    if (const auto self = weak.lock()) self->on_gone(raw);
  });
}

void Completion::start() {
  started_ = true;
  for (int i = 0; i < static_cast<int>(lines_.size()) && !ended_; ++i) submit(i);
}

void Completion::submit(int index) {
  Line& line = lines_[static_cast<std::size_t>(index)];
  RunSink::Watch watch;
  if (streams())
    watch = [&loop = loop_, weak = weak_from_this(), index](const Event& event) {
      loop.post([weak, index, event] {
        if (const auto self = weak.lock()) self->on_event(index, event);
      });
    };
  const auto trace = order_.ask.trace ? traces_ / (signature_.id + ".jsonl") : std::filesystem::path();
  line.sink = std::make_unique<RunSink>(trace, std::move(watch));
  // The run may outlive everybody's interest in it: until it has ended it keeps this alive. In the end it is the loop
  // that lets go, where timers and connections belong.
  auto finished = [self = shared_from_this(), index](Ticket, std::exception_ptr error, Answer answer) mutable {
    Loop& loop = self->loop_;
    loop.post([self = std::move(self), index, error = std::move(error), answer = std::move(answer)]() mutable {
      self->on_finished(index, error, std::move(answer));
    });
  };
  try {
    line.ticket = order_.model->engine().submit(order_.choices[static_cast<std::size_t>(index)].request, *line.sink,
                                                std::move(finished));
    hooks_.submitted();
    if (finishing_) order_.model->engine().cancel(line.ticket);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Completion::on_event(int index, const Event& event) {
  Line& line = lines_[static_cast<std::size_t>(index)];
  if (ended_ || line.done) return;
  line.canvases.apply(event);
  if (order_.ask.stream_events) forward(event);
  if (line.canvases.certain() > line.certain) {
    line.certain = line.canvases.certain();
    const Choice& choice = order_.choices[static_cast<std::size_t>(index)];
    send_text(index, certain_text(line.canvases.certain_tokens(), choice, order_.ask, *order_.model->language()));
  }
  if (const auto* weighed = std::get_if<Weighed>(&event); weighed && order_.ask.stream_mode != StreamMode::block_append)
    send_frame(index, weighed->sweep, weighed->step);
  const auto* drafted = std::get_if<Drafted>(&event);
  if (drafted && order_.ask.stream_mode == StreamMode::denoise && drafted->slot == line.canvases.leader())
    send_frame(index, drafted->sweep, drafted->step);
}

void Completion::on_finished(int index, const std::exception_ptr& error, Answer answer) {
  hooks_.returned();
  if (ended_) return;
  try {
    if (error)
      on_failure(index, error);
    else
      on_answer(index, std::move(answer));
  } catch (...) {
    fail(std::current_exception());
  }
}

void Completion::on_failure(int index, const std::exception_ptr& error) {
  const bool steered = order_.choices[static_cast<std::size_t>(index)].request.reward != nullptr;
  if (!steered) return fail(error);
  if (!order_.ask.strict) return degrade(index, message_of(error));
  fail(std::make_exception_ptr(ApiError(502, message_of(error), "its.reward", "reward_failed")));
}

void Completion::on_answer(int index, Answer answer) {
  Line& line = lines_[static_cast<std::size_t>(index)];
  const Choice& choice = order_.choices[static_cast<std::size_t>(index)];
  line.done = true;
  line.result.ess = line.sink->ess();
  if (order_.ask.vote && answer.status == Status::done)
    if (const int elected = voted(answer, choice, *order_.model->language()); elected >= 0) {
      answer.tokens = answer.candidates[static_cast<std::size_t>(elected)].tokens;
      answer.reward = answer.candidates[static_cast<std::size_t>(elected)].reward;
    }
  line.result.written = written(answer.tokens, choice, order_.ask, *order_.model->language());
  line.result.answer = std::move(answer);
  if (line.result.answer.status == Status::degenerate)
    line.result.warnings.emplace_back("every text had reward -inf: this is none that the reward allows");
  if (line.result.answer.status == Status::budget_spent || line.result.answer.status == Status::cancelled)
    line.result.warnings.emplace_back("the run ended early, at a limit or because it was asked to: the best so far");
  if (line.sink->lost_trace()) line.result.warnings.emplace_back("the trace could not be written");
  hooks_.made(line.result);
  if (streams()) {
    send_text(index, line.result.written.text);
    const bool last = std::ranges::all_of(lines_, &Line::done);
    ordered_json chunk = last_chunk(order_, signature_, index, line.result);
    if (!last || order_.ask.include_usage) send(nullptr, chunk);
    if (last && !order_.ask.include_usage) {
      add_summary(chunk, order_, results());
      send(nullptr, chunk);
    }
  }
  if (std::ranges::all_of(lines_, &Line::done)) on_last_text();
}

// The reward failed: the same text without steering, behind what has been sent already.
void Completion::degrade(int index, const std::string& why) {
  Line& line = lines_[static_cast<std::size_t>(index)];
  Choice& choice = order_.choices[static_cast<std::size_t>(index)];
  line.result.warnings.push_back(fmt::format("steering failed, this is one plain sample: {}", why));
  const std::vector<Token> certain = line.canvases.certain_tokens();
  choice = plain_choice(choice, *order_.model);
  std::vector<Token>& canvas = choice.request.canvas.tokens;
  std::ranges::copy(certain, canvas.begin());
  const Token mask = order_.model->language()->mask();
  if (std::ranges::find(canvas, mask) == canvas.end())  // nothing is left to be made
    return on_answer(index, {.tokens = canvas, .prompt = choice.given, .seed = choice.options.seed});
  line.canvases = LiveCanvases(canvas, choice.given, mask, 1, keeps_tokens(choice, false));
  line.certain = 0;
  submit(index);
}

std::vector<Result> Completion::results() const {
  std::vector<Result> all;
  for (const Line& line : lines_) all.push_back(line.result);
  return all;
}

void Completion::on_last_text() {
  if (streams()) {
    if (order_.ask.include_usage) {
      ordered_json chunk = chunk_frame(order_, signature_);
      chunk["usage"] = usage_of(order_, results());
      add_summary(chunk, order_, results());
      send(nullptr, chunk);
    }
    send_raw(nullptr, kDone, true);
  } else {
    hooks_.replied(200);
    const std::string body = whole_reply(order_, results(), signature_).dump();
    for (const ExchangePtr& exchange : std::set(listeners_))  // one who is gone is taken from it
      exchange->reply(200, "application/json", body, {{"X-Request-Id", signature_.id}});
  }
  end();
}

void Completion::fail(const std::exception_ptr& error) {
  if (ended_) return;
  const ApiError told = as_api_error(error);
  if (streams()) {
    send_raw(nullptr, told.body(), true);
    send_raw(nullptr, kDone, true);
  } else {
    hooks_.replied(told.status());
    for (const ExchangePtr& exchange : std::set(listeners_))
      exchange->reply(told.status(), "application/json", told.body(), {{"X-Request-Id", signature_.id}});
  }
  end();
}

// No more will be said. What still runs is stopped; those who come back find the log for a while.
void Completion::end() {
  if (std::exchange(ended_, true)) return;
  for (const Line& line : lines_)
    if (line.ticket != 0 && !line.done) order_.model->engine().cancel(line.ticket);
  for (const ExchangePtr& exchange : std::exchange(listeners_, {}))
    if (streams()) exchange->end_stream();
  hooks_.ended();
  const double keep_seconds = streams() ? order_.ask.reconnect_seconds : 0;
  after(std::chrono::milliseconds(static_cast<std::int64_t>(1000 * keep_seconds)), [this] { hooks_.forget(); });
}

// In a turn of its own: what it does may destroy the timer.
void Completion::after(std::chrono::milliseconds delay, std::function<void()> work) {
  patience_ = std::make_unique<Timer>(loop_, [this, work = std::move(work)] {
    loop_.post([weak = weak_from_this(), work] {
      if (const auto self = weak.lock()) work();
    });
  });
  patience_->set(delay);
}

void Completion::finish() {
  finishing_ = true;
  if (!started_) return fail(std::make_exception_ptr(ApiError(503, "the request was finished before it had begun")));
  for (const Line& line : lines_)
    if (line.ticket != 0 && !line.done) order_.model->engine().cancel(line.ticket);
}

void Completion::on_gone(const Exchange* exchange) {
  std::erase_if(listeners_, [&](const ExchangePtr& each) { return each.get() == exchange; });
  if (ended_ || !listeners_.empty()) return;
  if (!streams() || order_.ask.reconnect_seconds <= 0) return abandon();
  after(std::chrono::milliseconds(static_cast<std::int64_t>(1000 * order_.ask.reconnect_seconds)), [this] {
    if (listeners_.empty() && !ended_) abandon();
  });
}

void Completion::abandon() {
  abandoned_ = true;
  end();
}

void Completion::ping() {
  if (!streams()) return;
  for (const ExchangePtr& exchange : std::set(listeners_)) exchange->write(": still here\n\n");
}

void Completion::send(const char* name, const ordered_json& data, bool keep) { send_raw(name, data.dump(), keep); }

void Completion::send_raw(const char* name, const std::string& data, bool keep) {
  const std::string lines = sse(name, next_message_, data);
  if (keep && order_.ask.reconnect_seconds > 0 && log_bytes_ <= kMostKept) {
    log_bytes_ += lines.size();
    log_.push_back({next_message_, lines});
    if (log_bytes_ > kMostKept) log_.clear();
  }
  ++next_message_;
  for (const ExchangePtr& exchange : std::set(listeners_)) exchange->write(lines);
}

// `text` is all that is certain; what is new of it goes out.
void Completion::send_text(int index, const std::string& text) {
  Line& line = lines_[static_cast<std::size_t>(index)];
  std::string fresh;
  if (!line.begun && order_.ask.echo) fresh = order_.choices[static_cast<std::size_t>(index)].options.prompt;
  if (text.starts_with(line.sent)) {
    fresh += text.substr(line.sent.size());
    line.sent = text;
  }
  if (fresh.empty()) return;
  line.begun = true;
  send(nullptr, text_chunk(order_, signature_, index, fresh));
}

void Completion::send_frame(int index, int sweep, int step) {
  const Line& line = lines_[static_cast<std::size_t>(index)];
  const Choice& choice = order_.choices[static_cast<std::size_t>(index)];
  const LanguageModel& language = *order_.model->language();
  const int slot = line.canvases.leader();
  const std::vector<Token>& tokens = line.canvases.canvas(slot);
  ordered_json canvas = ordered_json::array();
  for (const Token token : tokens)
    canvas.push_back(token == language.mask() ? ordered_json() : ordered_json(language.piece(token)));
  ordered_json data = chunk_frame(order_, signature_);
  data["frame"] = {{"index", index},
                   {"sweep", sweep},
                   {"step", step},
                   {"steps", choice.request.steps},
                   {"slot", slot},
                   {"text", language.show(tokens)},
                   {"canvas", std::move(canvas)},
                   {"value", line.canvases.value(slot)}};
  send("diffusion_frame", data);
}

// The engine's own event, as a trace has it. Drafts are many and soon out of date: they are thinned, and not kept.
void Completion::forward(const Event& event) {
  const auto* drafted = std::get_if<Drafted>(&event);
  if (drafted) {
    Clock::time_point& last = drafted_[drafted->slot];
    if (Clock::now() - last < kDraftEvery) return;
    last = Clock::now();
  }
  send_pieces(event);
  ordered_json data = chunk_frame(order_, signature_);
  data["event"] = ordered_json::parse(to_json_line(event, drafted ? next_event_ : next_event_++));
  send("pgdlm", data, !drafted);
}

void Completion::send_pieces(const Event& event) {
  const LanguageModel& language = *order_.model->language();
  ordered_json pieces = ordered_json::object();
  for (const Token token : tokens_in(event))
    if (known_pieces_.insert(token).second) pieces[std::to_string(token)] = language.piece(token);
  if (pieces.empty()) return;
  ordered_json data = chunk_frame(order_, signature_);
  data["mask"] = language.mask();
  data["pieces"] = std::move(pieces);
  send("pieces", data);
}

}  // namespace pgdlm::serve
