// Connections, and the requests that come over them. Everything happens on the loop's thread: a connection that waits
// costs a few kilobytes and no thread, so hundreds of idle streams are no burden.
//
// Why libevent's buffered sockets and not its evhttp: evhttp does not read while a reply is being made, so it learns
// that a client has gone only when it writes, and it answers what it cannot read with HTML. We must cancel at once, and
// errors have OpenAI's form. What is left to write ourselves is http.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http.h"
#include "serve/loop.h"

struct evconnlistener;

namespace pgdlm::serve {

class Connection;

// A request and the reply to it. Held by the connection, and by the handler until it has answered; loop's thread.
class Exchange {
 public:
  Exchange(HttpRequest request, Connection* connection) : request_(std::move(request)), connection_(connection) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }

  void add_header(std::string name, std::string value) { headers_.emplace_back(std::move(name), std::move(value)); }
  void reply(int status, std::string_view type, std::string_view body, const Headers& headers = {});
  // A reply whose end is not known yet. Writing to a client who is gone, or who does not read, is no error.
  void begin_stream(std::string_view type, const Headers& headers = {});
  void write(std::string_view data);
  void end_stream();

  bool gone() const { return lost_; }                                    // any thread: nobody waits for an answer
  bool open() const { return connection_ != nullptr; }                   // it can still be answered
  void on_gone(std::function<void()> gone) { gone_ = std::move(gone); }  // the client left before the end of the reply

 private:
  friend class Connection;
  HttpRequest request_;
  Connection* connection_;  // null: answered, or nobody listens any more
  Headers headers_;         // of its reply
  bool streaming_ = false;
  std::atomic<bool> lost_{false};
  std::function<void()> gone_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any
  HttpLimits limits;
  std::chrono::milliseconds patience{30'000};       // for a request, from its first byte to its last
  std::chrono::milliseconds idle{75'000};           // between two requests of a connection
  std::size_t most_unread = std::size_t{32} << 20;  // bytes of a stream that its client has not read
  std::function<void(const ExchangePtr&)> handle;
  std::function<std::string(const HttpError&)> error_body;  // of a request that could not be read; JSON
};

class HttpServer {
 public:
  HttpServer(Loop& loop, HttpServerOptions options);  // Error{invalid_request} if it cannot listen
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::size_t connections() const { return connections_.size(); }
  // No new connections; the others end with the reply they wait for. `finished` is called when none is left.
  void close(std::function<void()> finished);

  Loop& loop() { return loop_; }
  const HttpServerOptions& options() const { return options_; }
  bool closing() const { return closing_; }
  void remove(Connection* connection);

 private:
  void accept(int socket);
  void finish_if_empty();

  Loop& loop_;
  HttpServerOptions options_;
  std::size_t most_connections_;
  evconnlistener* listener_ = nullptr;
  bool closing_ = false;
  std::function<void()> finished_;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
};

}  // namespace pgdlm::serve
