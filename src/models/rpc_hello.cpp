#include "models/rpc_hello.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <ggml-rpc.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using Clock = std::chrono::steady_clock;

// ggml has these in its source only: a command is a byte, the size of its data and the data; an answer is a size and
// data. Both sides of a hello describe their transport in 24 bytes; zeros mean plain TCP.
static_assert(RPC_PROTO_MAJOR_VERSION == 7, "look at RPC_CMD_HELLO of this ggml again");
constexpr std::uint8_t kHello = 14;
constexpr std::size_t kTransport = 24, kSize = sizeof(std::uint64_t);
constexpr std::size_t kAnswer = 4 + kTransport;  // major, minor, patch, padding, transport

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

class Handshake {
 public:
  Handshake(const std::string& endpoint, std::chrono::milliseconds patience)
      : endpoint_(endpoint), patience_(patience), deadline_(Clock::now() + patience) {}

  void run() const {
    const auto addresses = resolve();
    const Socket socket(
        ::socket(addresses->ai_family, addresses->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, addresses->ai_protocol));
    connect_to(*addresses, socket);
    std::array<std::uint8_t, 1 + kSize + kTransport> hello = {kHello, kTransport};
    if (send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size()))
      throw closed();
    const auto size = receive(socket, kSize);
    std::uint64_t announced = 0;
    std::memcpy(&announced, size.data(), kSize);
    if (announced != kAnswer)
      throw failure("something else answers there: " + shown(size), "ggml's rpc-server must run at this address");
    check_version(receive(socket, kAnswer));
  }

 private:
  struct Free {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
  };

  Error failure(const std::string& what, const std::string& hint) const {
    return Error(ErrorCode::unsupported, "rpc is '" + endpoint_ + "': " + what, hint);
  }
  Error closed() const {
    return failure("the connection was closed without an answer",
                   "ggml's rpc-server must run there, of protocol " + std::to_string(RPC_PROTO_MAJOR_VERSION));
  }
  Error silent(const std::string& what) const {
    return failure(what + " for " + std::to_string(patience_.count()) + " ms",
                   "it is no rpc-server of ggml, or serves another client: it has one at a time");
  }

  // As ggml takes an endpoint: one colon, and the first IPv4 address of the host.
  std::unique_ptr<addrinfo, Free> resolve() const {
    const std::size_t colon = std::min(endpoint_.find(':'), endpoint_.size());
    const std::string host = endpoint_.substr(0, colon), port = endpoint_.substr(std::min(colon + 1, endpoint_.size()));
    const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
    if (host.empty() || !digits || port.size() > 5 || std::stoi(port) > 65535)
      throw Error(ErrorCode::invalid_request,
                  "rpc is '" + endpoint_ + "', expected host:port, a name or IPv4 address and a number up to 65535");
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
      throw Error(ErrorCode::invalid_request, "rpc is '" + endpoint_ + "': no such host");
    return std::unique_ptr<addrinfo, Free>(found);
  }

  // False: nothing happened in time.
  bool wait_for(const Socket& socket, short event) const {
    pollfd watched{.fd = socket.get(), .events = event, .revents = 0};
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      const int ready = poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  void connect_to(const addrinfo& address, const Socket& socket) const {
    const auto refused = [&](int error) {
      return failure("nobody listens there (" + std::string(std::strerror(error)) + ")", "start ggml's rpc-server");
    };
    if (socket.get() < 0) throw refused(errno);
    if (connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return;
    if (errno != EINPROGRESS) throw refused(errno);
    if (!wait_for(socket, POLLOUT)) throw silent("no connection");
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) throw refused(error);
  }

  std::vector<std::uint8_t> receive(const Socket& socket, std::size_t count) const {
    std::vector<std::uint8_t> bytes(count);
    for (std::size_t have = 0; have < count;) {
      if (!wait_for(socket, POLLIN))
        throw silent(have == 0 ? "no answer" : "no more than " + std::to_string(have) + " bytes");
      const ssize_t got = recv(socket.get(), bytes.data() + have, count - have, 0);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) throw closed();
      if (got > 0) have += static_cast<std::size_t>(got);
    }
    return bytes;
  }

  // The rule is ggml's.
  void check_version(const std::vector<std::uint8_t>& answer) const {
    if (answer[0] == RPC_PROTO_MAJOR_VERSION && answer[1] <= RPC_PROTO_MINOR_VERSION) return;
    const auto version = [](int major, int minor, int patch) {
      return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    };
    throw failure("the server speaks version " + version(answer[0], answer[1], answer[2]) + ", expected " +
                      version(RPC_PROTO_MAJOR_VERSION, RPC_PROTO_MINOR_VERSION, RPC_PROTO_PATCH_VERSION),
                  "both sides need the same version of ggml");
  }

  static std::string shown(const std::vector<std::uint8_t>& bytes) {
    std::string text = "'";
    for (const std::uint8_t byte : bytes) text += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    return text + "'";
  }

  const std::string& endpoint_;
  std::chrono::milliseconds patience_;
  Clock::time_point deadline_;
};

}  // namespace

void require_rpc_server(const std::string& endpoint, std::chrono::milliseconds patience) {
  Handshake(endpoint, patience).run();
}

}  // namespace pgdlm
