// ggml's RPC device: it agrees with the CPU, serves several models at once, and whatever else listens at an address is
// told apart from a server before ggml, which would end the process, hears of it.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "models/each_device.h"
#include "models/rpc_hello.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

std::vector<float> all_outputs(Model& model, const std::vector<std::vector<Token>>& rows) {
  std::vector<float> values;
  for (const RawOutput& output : raw_outputs(model, rows))
    values.insert(values.end(), output.values.begin(), output.values.end());
  return values;
}

TEST(Rpc, AgreesWithTheCpu) {
  for (const std::string family : {"mdlm", "llada", "dream", "bert-fill-mask", "roberta-classifier", "qwen2-prm"})
    for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16}) {
      const auto here = load(tiny(family, type), Where::cpu), there = load(tiny(family, type), Where::rpc);
      auto rows = random_rows(*here, {7, 1, 12, 7, 3, 12, 20});
      if (here->role() == Role::process_reward)
        for (auto& row : rows) row.back() = here->step_token();
      EXPECT_LE(difference(all_outputs(*there, rows), all_outputs(*here, rows)), type == GGML_TYPE_F32 ? 1e-4F : 5e-3F)
          << family << " " << ggml_type_name(type);
    }
}

// A server has one client at a time; the models of a process are one client.
TEST(Rpc, ServesSeveralModelsOfOneProcess) {
  const auto first = load(tiny("llada"), Where::rpc), second = load(tiny("mdlm"), Where::rpc);
  const auto rows = random_rows(*first, {9});
  const auto one = raw_outputs(*first, rows).front().values;
  raw_outputs(*second, random_rows(*second, {5}));
  EXPECT_EQ(raw_outputs(*first, rows).front().values, one);
}

TEST(Rpc, IsFreeForTheNextModel) {
  for (int i = 0; i < 3; ++i) {
    const auto model = load(tiny("llada"), Where::rpc);
    raw_outputs(*model, random_rows(*model, {4}));
  }
}

// Somebody who listens on a port of this machine and does as told with whoever comes.
class Stranger {
 public:
  Stranger() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    listen(listener_, 1);
    endpoint = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Stranger() {
    if (thread_.joinable()) thread_.join();
    if (listener_ >= 0) close(listener_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void leave() { close(std::exchange(listener_, -1)); }

  // Hears the hello, says this, and hangs up.
  void answer(std::string words) {
    thread_ = std::thread([this, words = std::move(words)] {
      const int client = accept(listener_, nullptr, nullptr);
      std::array<char, 33> hello{};
      EXPECT_EQ(recv(client, hello.data(), hello.size(), MSG_WAITALL), static_cast<ssize_t>(hello.size()));
      EXPECT_EQ(hello[0], 14);
      EXPECT_EQ(send(client, words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
      close(client);
    });
  }

  std::string endpoint;

 private:
  int listener_;
  std::thread thread_;
};

// What is said of an endpoint, the hint behind it.
std::string refusal(const std::string& endpoint, std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  try {
    Model::load(tiny("llada"), {.device = {.rpc = endpoint, .rpc_patience = patience}});
  } catch (const Error& e) {
    return std::string(e.what()) + "; " + e.hint();
  }
  return "it was taken";
}

TEST(Rpc, NobodyThere) {
  Stranger stranger;
  stranger.leave();
  EXPECT_EQ(refusal(stranger.endpoint),
            "rpc is '" + stranger.endpoint + "': nobody listens there (Connection refused); start ggml's rpc-server");
}

TEST(Rpc, NoAddress) {
  for (const std::string wrong :
       {"no-port", ":7", "host:", "host:x", "::1:7", "host:7:8", "host:65536", "host:9999999"})
    EXPECT_EQ(refusal(wrong),
              "rpc is '" + wrong + "', expected host:port, a name or IPv4 address and a number up to " + "65535; ");
  EXPECT_EQ(refusal("no such host:7"), "rpc is 'no such host:7': no such host; ");
}

TEST(Rpc, SomebodySilent) {
  const Stranger stranger;
  EXPECT_EQ(refusal(stranger.endpoint, std::chrono::milliseconds(20)),
            "rpc is '" + stranger.endpoint + "': no answer for 20 ms; it is no rpc-server of ggml, or serves another " +
                "client: it has one at a time");
}

TEST(Rpc, SomethingElse) {
  Stranger stranger;
  stranger.answer("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(refusal(stranger.endpoint), "rpc is '" + stranger.endpoint + "': something else answers there: " +
                                            "'HTTP/1.1'; ggml's rpc-server must run at this address");
}

TEST(Rpc, SomebodyWhoHangsUp) {
  for (const std::string& words : {std::string(), std::string("\x1c"), std::string("\x1c\0\0\0\0\0\0\0\7\0", 10)}) {
    Stranger stranger;
    stranger.answer(words);
    EXPECT_EQ(refusal(stranger.endpoint), "rpc is '" + stranger.endpoint +
                                              "': the connection was closed without an answer; ggml's rpc-server " +
                                              "must run there, of protocol 7");
  }
}

TEST(Rpc, AServerOfAnotherVersion) {
  std::string hello("\x1c\0\0\0\0\0\0\0\6\1\2", 11);
  hello.resize(8 + 28);
  Stranger stranger;
  stranger.answer(hello);
  EXPECT_EQ(refusal(stranger.endpoint), "rpc is '" + stranger.endpoint + "': the server speaks version 6.1.2, " +
                                            "expected 7.0.0; both sides need the same version of ggml");
}

TEST(Devices, AnUnknownOneIsAnError) { EXPECT_THROW(Device::open({.device = "abacus"}), Error); }

}  // namespace
}  // namespace pgdlm
