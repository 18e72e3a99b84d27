#include "serve/http_server.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "pgdlm/error.h"
#include "serve/connection.h"

namespace pgdlm::serve {
namespace {

// As many sockets as the system lets us have; the rest is for models, stores and traces.
std::size_t room_for_connections() {
  constexpr rlim_t kEnough = 65'536, kOthers = 64;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough));
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return std::max<rlim_t>(limit.rlim_cur, kOthers + 16) - kOthers;
}

[[noreturn]] void cannot_listen(const HttpServerOptions& options, const std::string& why) {
  throw Error(ErrorCode::invalid_request, fmt::format("cannot listen on {}:{}: {}", options.host, options.port, why),
              "choose another --host or --port (--port 0: any that is free)");
}

}  // namespace

void Exchange::reply(int status, std::string_view type, std::string_view body, const Headers& headers) {
  if (connection_ == nullptr) return;
  Connection& connection = *connection_;
  headers_.insert(headers_.end(), headers.begin(), headers.end());
  if (!type.empty()) headers_.emplace_back("Content-Type", type);
  connection.send(reply_head(status, headers_, body.size(), request_, connection.keeps_alive(request_)));
  if (request_.method != "HEAD") connection.send(body);
  if (connection_ != nullptr) connection.answered();
}

void Exchange::begin_stream(std::string_view type, const Headers& headers) {
  if (connection_ == nullptr) return;
  streaming_ = true;
  headers_.insert(headers_.end(), headers.begin(), headers.end());
  headers_.emplace_back("Content-Type", type);
  headers_.emplace_back("Cache-Control", "no-store");
  connection_->send(
      reply_head(200, headers_, std::nullopt, request_, connection_->keeps_alive(request_) && !request_.http_1_0));
}

void Exchange::write(std::string_view data) {
  if (connection_ == nullptr || data.empty()) return;
  connection_->send(request_.http_1_0 ? std::string(data) : chunk(data));
}

void Exchange::end_stream() {
  if (connection_ == nullptr) return;
  if (!request_.http_1_0) connection_->send(chunk(""));
  if (connection_ != nullptr) connection_->answered();
}

HttpServer::HttpServer(Loop& loop, HttpServerOptions options)
    : loop_(loop), options_(std::move(options)), most_connections_(room_for_connections()) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(options_.port);
  if (const int code = getaddrinfo(options_.host.c_str(), port.c_str(), &hints, &found); code != 0)
    cannot_listen(options_, gai_strerror(code));
  listener_ = evconnlistener_new_bind(
      loop_.base(),
      [](evconnlistener*, evutil_socket_t socket, sockaddr*, int, void* self) {
        static_cast<HttpServer*>(self)->accept(socket);
      },
      this, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, SOMAXCONN, found->ai_addr,
      static_cast<int>(found->ai_addrlen));
  const std::string why = std::strerror(errno);
  freeaddrinfo(found);
  if (listener_ == nullptr) cannot_listen(options_, why);
}

HttpServer::~HttpServer() {
  if (listener_ != nullptr) evconnlistener_free(listener_);
}

int HttpServer::port() const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(evconnlistener_get_fd(listener_), reinterpret_cast<sockaddr*>(&address), &length);
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(reinterpret_cast<sockaddr*>(&address), length, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
  return std::stoi(port.data());
}

void HttpServer::accept(int socket) {
  if (connections_.size() >= most_connections_) {
    ::close(socket);
    return;
  }
  try {
    auto connection = std::make_unique<Connection>(*this, socket);
    Connection* raw = connection.get();
    connections_.emplace(raw, std::move(connection));
  } catch (const std::exception&) {  // no memory: this is C's thread of execution, and others are still served
    ::close(socket);
  }
}

void HttpServer::remove(Connection* connection) {
  connections_.erase(connection);
  finish_if_empty();
}

void HttpServer::close(std::function<void()> finished) {
  closing_ = true;
  finished_ = std::move(finished);
  if (listener_ != nullptr) evconnlistener_free(std::exchange(listener_, nullptr));
  for (const auto& [raw, connection] : connections_) connection->close_if_idle();
  finish_if_empty();
}

void HttpServer::finish_if_empty() {
  if (closing_ && connections_.empty() && finished_) std::exchange(finished_, nullptr)();
}

}  // namespace pgdlm::serve
