// The runtime's promises: a row comes out the same in any batch, alone, in parts, on any number of threads; asked
// positions are those of the full output; another device agrees.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "models/fixture.h"
#include "pgdlm/error.h"

#if defined(__has_feature)
#define PGDLM_HAS_ASAN __has_feature(address_sanitizer)
#else
#define PGDLM_HAS_ASAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || PGDLM_HAS_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace pgdlm {
namespace {

std::vector<Position> all(const std::vector<Token>& row) {
  std::vector<Position> positions(row.size());
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<std::vector<float>> hidden(Model& model, const std::vector<std::vector<Token>>& rows) {
  std::vector<TokenRow> batch;
  for (const auto& row : rows) batch.push_back({row, all(row)});
  return model.runtime().trunk(batch);
}

const std::vector<int> kLengths = {7, 1, 12, 7, 3, 12, 20};

class EachTrunk : public testing::TestWithParam<std::string> {};

TEST_P(EachTrunk, ARowIsTheSameBitsInAnyBatch) {
  const auto model = Model::load(tiny(GetParam()));
  const auto rows = random_rows(*model, kLengths);
  const auto together = hidden(*model, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(hidden(*model, {rows[i]}).front(), together[i]) << i;
}

TEST_P(EachTrunk, ATokenCapAndThreadsChangeNoBit) {
  const auto model = Model::load(tiny(GetParam()));
  const auto rows = random_rows(*model, kLengths);
  const auto expected = hidden(*model, rows);
  for (const int cap : {1, 13, 30}) {
    const auto capped = Model::load(tiny(GetParam()), {.max_tokens = cap});
    EXPECT_EQ(hidden(*capped, rows), expected) << cap;
  }
  const auto alone = Model::load(tiny(GetParam()), {.device = {.threads = 1}});
  EXPECT_EQ(hidden(*alone, rows), expected);
}

TEST_P(EachTrunk, AskedPositionsAreThoseOfTheFullOutput) {
  const auto model = Model::load(tiny(GetParam()));
  const auto rows = random_rows(*model, kLengths);
  const auto full = hidden(*model, rows);
  const auto width = static_cast<std::size_t>(model->sizes().embedding);
  std::vector<TokenRow> batch;
  for (const auto& row : rows) {
    batch.push_back({row, {}});
    for (std::size_t l = 0; l < row.size(); l += 3) batch.back().asked.push_back(static_cast<Position>(l));
  }
  batch[3].asked.clear();  // one that nobody asks about
  const auto some = model->runtime().trunk(batch);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(some[i].size(), batch[i].asked.size() * width);
    for (std::size_t a = 0; a < batch[i].asked.size(); ++a)
      for (std::size_t d = 0; d < width; ++d)
        ASSERT_EQ(some[i][a * width + d], full[i][static_cast<std::size_t>(batch[i].asked[a]) * width + d]);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EachTrunk,
                         testing::Values("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

// An RPC server in a process of its own, on a port nobody has.
class Server {
 public:
  Server() {
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(probe, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
    close(probe);
    port_ = std::to_string(ntohs(address.sin_port));
    std::string program = PGDLM_RPC_SERVER;
    char* arguments[] = {program.data(), port_.data(), nullptr};
    posix_spawn(&child_, program.c_str(), nullptr, nullptr, arguments, environ);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!listening(address) && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  }
  ~Server() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  std::string endpoint() const { return "127.0.0.1:" + port_; }

 private:
  static bool listening(const sockaddr_in& address) {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const bool open = connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(s);
    return open;
  }

  std::string port_;
  pid_t child_ = 0;
};

// ggml keeps what it knows of a server as long as the process lives, which looks like a leak.
std::shared_ptr<Model> load_there(const std::filesystem::path& path, const std::string& endpoint) {
#if defined(__SANITIZE_ADDRESS__) || PGDLM_HAS_ASAN
  const __lsan::ScopedDisabler quiet;
#endif
  return Model::load(path, {.device = {.rpc = endpoint}});
}

TEST(Rpc, AnotherMachinesDeviceAgrees) {
  const Server server;
  for (const std::string family : {"mdlm", "llada", "dream", "bert-fill-mask", "roberta-classifier", "qwen2-prm"})
    for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16}) {
      const auto here = Model::load(tiny(family, type));
      const auto there = load_there(tiny(family, type), server.endpoint());
      auto rows = random_rows(*here, kLengths);
      if (here->role() == Role::process_reward)
        for (auto& row : rows) row.back() = here->step_token();
      const auto expected = raw_outputs(*here, rows), got = raw_outputs(*there, rows);
      float most = 0, off = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(got[i].values.size(), expected[i].values.size());
        for (std::size_t v = 0; v < got[i].values.size(); ++v) {
          most = std::max(most, std::fabs(expected[i].values[v]));
          off = std::max(off, std::fabs(expected[i].values[v] - got[i].values[v]));
        }
      }
      EXPECT_LE(off, (type == GGML_TYPE_F32 ? 1e-4F : 5e-3F) * most) << family << " " << ggml_type_name(type);
    }
}

TEST(Rpc, NobodyThereIsAnError) {
  EXPECT_THROW(Model::load(tiny("llada"), {.device = {.rpc = "127.0.0.1:1"}}), Error);
  EXPECT_THROW(Model::load(tiny("llada"), {.device = {.rpc = "no-port"}}), Error);
  EXPECT_THROW(Model::load(tiny("llada"), {.device = {.device = "abacus"}}), Error);
}

TEST(Runtime, RefusesWhatTheModelCannotRead) {
  const auto model = Model::load(tiny("llada"));
  const std::vector<std::vector<std::vector<Token>>> bad = {
      {{}},
      {{0, -1}},
      {{model->sizes().vocab}},
      {std::vector<Token>(static_cast<std::size_t>(model->sizes().context) + 1)}};
  for (const auto& rows : bad) EXPECT_THROW(raw_outputs(*model, rows), Error);
}

}  // namespace
}  // namespace pgdlm
