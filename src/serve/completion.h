// A completion from its order to the last byte of its reply. It lives on the loop's thread; its runs live in the
// engine, and tell it what happens by posts to the loop. Held by the Service for as long as somebody may ask for it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "serve/http_server.h"
#include "serve/live_canvases.h"
#include "serve/loop.h"
#include "serve/order.h"
#include "serve/reply.h"
#include "serve/run_sink.h"

namespace pgdlm::serve {

struct CompletionHooks {
  std::function<void(const Result&)> made;  // one of its texts
  std::function<void(int status)> replied;
  std::function<void()> submitted, returned;  // a run went to the engine, and came back
  std::function<void()> ended;                // nothing more will be said
  std::function<void()> forget;               // nobody will ask for it any more
};

class Completion : public std::enable_shared_from_this<Completion> {
 public:
  Completion(Loop& loop, Order order, Signature signature, std::filesystem::path traces, CompletionHooks hooks);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  const Order& order() const { return order_; }
  const char* state() const { return ended_ ? "ended" : started_ ? "running" : "waiting"; }
  bool ended() const { return ended_; }
  bool started() const { return started_; }
  bool abandoned() const { return abandoned_; }  // its client left before the end
  std::chrono::steady_clock::time_point since() const { return since_; }

  void listen(const ExchangePtr& exchange);  // the client who ordered it
  // A client who lost its connection. ApiError{410} if more was said since than is kept.
  void rejoin(const ExchangePtr& exchange, std::int64_t after);
  void start();   // hands it to the engine
  void finish();  // with the best it has, soon; one that waits has nothing
  void fail(const std::exception_ptr& error);
  void ping();

 private:
  // One text on its way.
  struct Line {
    std::unique_ptr<RunSink> sink;
    LiveCanvases canvases;
    Ticket ticket = 0;
    int certain = 0;   // positions that have been looked at
    std::string sent;  // of the text, to those who stream
    bool begun = false, done = false;
    Result result;
  };

  void submit(int index);
  void on_event(int index, const Event& event);
  void on_finished(int index, const std::exception_ptr& error, Answer answer);
  void on_answer(int index, Answer answer);
  void on_failure(int index, const std::exception_ptr& error);
  void degrade(int index, const std::string& why);
  std::vector<Result> results() const;
  void on_last_text();
  void watch(const ExchangePtr& exchange);
  void on_gone(const Exchange* exchange);
  void abandon();
  void end();
  void after(std::chrono::milliseconds delay, std::function<void()> work);

  // Streaming.
  bool streams() const { return order_.ask.stream; }
  void send(const char* name, const nlohmann::ordered_json& data, bool keep = true);
  void send_raw(const char* name, const std::string& data, bool keep);
  void send_text(int index, const std::string& text);
  void send_frame(int index, int sweep, int step);
  void forward(const Event& event);
  void send_pieces(const Event& event);

  Loop& loop_;
  Order order_;
  Signature signature_;
  std::filesystem::path traces_;
  CompletionHooks hooks_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::vector<Line> lines_;
  bool started_ = false, ended_ = false, finishing_ = false, abandoned_ = false;
  std::set<ExchangePtr> listeners_;

  struct Message {
    std::int64_t id;
    std::string lines;
  };
  std::int64_t next_message_ = 0, next_event_ = 0;
  std::vector<Message> log_;  // for those who come back
  std::size_t log_bytes_ = 0;
  std::set<Token> known_pieces_;
  std::map<int, std::chrono::steady_clock::time_point> drafted_;  // by slot, the last that was sent
  std::unique_ptr<Timer> patience_;                               // nobody listens: how long it is kept
};

}  // namespace pgdlm::serve
