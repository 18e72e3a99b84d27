// One client's connection: requests one after the other, each answered before the next is looked at. Owned by the
// HttpServer; loop's thread.
#pragma once

#include <memory>
#include <string_view>

#include "serve/http_server.h"

struct bufferevent;

namespace pgdlm::serve {

class Connection {
 public:
  Connection(HttpServer& server, int socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Of the exchange at work.
  void send(std::string_view bytes);
  void answered();  // its last byte has been sent on its way
  bool keeps_alive(const HttpRequest& request) const { return request.keep_alive && !server_.closing(); }

  void close_if_idle();

 private:
  // linger: the last reply is on its way, and what the client still sends is thrown away. A connection that is closed
  // with unread input would be reset, and the client might never see the reply.
  enum class State { reading, busy, linger };

  void on_input();
  void on_event(short what);
  void on_late();
  void read_request();
  void refuse(const HttpError& error);
  void linger();
  void lose_exchange();
  void drop();  // destroys this

  HttpServer& server_;
  bufferevent* buffer_;
  State state_ = State::reading;
  RequestReader reader_;
  ExchangePtr exchange_;
  bool ended_ = false;  // the client will send no more
  std::size_t thrown_away_ = 0;
  Timer late_;
};

}  // namespace pgdlm::serve
