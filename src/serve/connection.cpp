#include "serve/connection.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>

#include <array>

#include "pgdlm/error.h"

namespace pgdlm::serve {
namespace {

constexpr std::chrono::milliseconds kLinger{5'000};
constexpr std::size_t kMostThrownAway = std::size_t{512} << 20;
constexpr timeval kWriteStall{.tv_sec = 60, .tv_usec = 0};

}  // namespace

Connection::Connection(HttpServer& server, int socket)
    : server_(server),
      buffer_(bufferevent_socket_new(server.loop().base(), socket, BEV_OPT_CLOSE_ON_FREE)),
      reader_(server.options().limits),
      late_(server.loop(), [this] { on_late(); }) {
  if (buffer_ == nullptr) throw Error(ErrorCode::exhausted, "there is no memory for a connection");
  bufferevent_setcb(
      buffer_, [](bufferevent*, void* self) { static_cast<Connection*>(self)->on_input(); },
      [](bufferevent*, void* self) {  // everything written has been sent
        auto* connection = static_cast<Connection*>(self);
        if (connection->state_ == State::linger) connection->linger();
      },
      [](bufferevent*, short what, void* self) { static_cast<Connection*>(self)->on_event(what); }, this);
  // Requests that are sent ahead of their turn wait in the socket, not here.
  bufferevent_setwatermark(buffer_, EV_READ, 0, server.options().limits.head_bytes + (std::size_t{64} << 10));
  bufferevent_set_timeouts(buffer_, nullptr, &kWriteStall);
  bufferevent_enable(buffer_, EV_READ | EV_WRITE);
  late_.set(server.options().idle);
}

Connection::~Connection() {
  lose_exchange();
  bufferevent_free(buffer_);
}

void Connection::on_input() {
  evbuffer* input = bufferevent_get_input(buffer_);
  if (state_ == State::linger) {
    thrown_away_ += evbuffer_get_length(input);
    evbuffer_drain(input, evbuffer_get_length(input));
    if (thrown_away_ > kMostThrownAway) drop();
    return;
  }
  if (state_ == State::reading) read_request();
}

void Connection::read_request() {
  evbuffer* input = bufferevent_get_input(buffer_);
  try {
    while (!reader_.done() && evbuffer_get_length(input) > 0) {
      std::array<char, 16384> bytes;
      const ev_ssize_t count = evbuffer_copyout(input, bytes.data(), bytes.size());
      const bool begun = reader_.begun();
      evbuffer_drain(input, reader_.feed({bytes.data(), static_cast<std::size_t>(count)}));
      if (!begun) late_.set(server_.options().patience);
      if (reader_.wants_continue()) send("HTTP/1.1 100 Continue\r\n\r\n");
    }
  } catch (const HttpError& error) {
    return refuse(error);
  }
  if (!reader_.done()) return;
  late_.cancel();
  state_ = State::busy;
  exchange_ = std::make_shared<Exchange>(reader_.take(), this);
  reader_ = RequestReader(server_.options().limits);
  const ExchangePtr held = exchange_;  // an answer at once would let it go
  server_.options().handle(held);
}

// What cannot be read is answered and ends the connection: nobody knows where the next request begins.
void Connection::refuse(const HttpError& error) {
  HttpRequest nobody;
  const std::string body = server_.options().error_body(error);
  send(reply_head(error.status, {{"Content-Type", "application/json"}}, body.size(), nobody, false));
  send(body);
  state_ = State::linger;
}

void Connection::on_late() {
  if (state_ == State::reading && reader_.begun()) return refuse({408, "the request took too long to arrive"});
  drop();
}

void Connection::on_event(short what) {
  if ((what & BEV_EVENT_EOF) != 0 && (what & BEV_EVENT_READING) != 0) {
    ended_ = true;
    const bool unsent = evbuffer_get_length(bufferevent_get_output(buffer_)) > 0;
    if (state_ == State::busy) return drop();  // who closes does not want the answer any more
    if (unsent && state_ != State::linger) {
      state_ = State::linger;
      return;
    }
    if (unsent) return;
  }
  drop();
}

void Connection::send(std::string_view bytes) {
  const bool stalled = evbuffer_get_length(bufferevent_get_output(buffer_)) > server_.options().most_unread;
  bufferevent_write(buffer_, bytes.data(), bytes.size());
  if (stalled && exchange_ && exchange_->streaming_) {  // its client does not read: nothing more is kept for it
    lose_exchange();
    late_.set(std::chrono::milliseconds(0));
    state_ = State::linger;
  }
}

void Connection::answered() {
  const bool keep = keeps_alive(exchange_->request()) && !(exchange_->streaming_ && exchange_->request().http_1_0);
  exchange_->connection_ = nullptr;
  exchange_.reset();
  if (!keep || ended_) {
    state_ = State::linger;
    if (evbuffer_get_length(bufferevent_get_output(buffer_)) == 0) linger();
    return;
  }
  state_ = State::reading;
  late_.set(server_.options().idle);
  // What is already here is read in a turn of its own, so that many small requests do not pile up on the stack.
  if (evbuffer_get_length(bufferevent_get_input(buffer_)) > 0)
    bufferevent_trigger(buffer_, EV_READ, BEV_OPT_DEFER_CALLBACKS);
}

// The reply is out: say so, and wait a little for the client to have read it.
void Connection::linger() {
  ::shutdown(bufferevent_getfd(buffer_), SHUT_WR);
  late_.set(ended_ ? std::chrono::milliseconds(0) : kLinger);
}

void Connection::close_if_idle() {
  if (state_ == State::reading && !reader_.begun()) late_.set(std::chrono::milliseconds(0));
}

void Connection::lose_exchange() {
  if (!exchange_) return;
  const ExchangePtr lost = std::exchange(exchange_, nullptr);
  lost->connection_ = nullptr;
  lost->lost_ = true;
  if (lost->gone_) lost->gone_();
}

void Connection::drop() { server_.remove(this); }

}  // namespace pgdlm::serve
