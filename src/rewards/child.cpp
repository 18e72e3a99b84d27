#include "rewards/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pgdlm/error.h"

extern char** environ;

namespace pgdlm {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::exhausted, "cannot start a child process: " + what + ": " + std::strerror(errno));
}

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int take(int end) { return std::exchange(ends[static_cast<std::size_t>(end)], -1); }
};

// A write to a child that has gone must be an answer, not the end of us.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &old_);
  }
  ~NoPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec now{};
    while (sigtimedwait(&pipe, nullptr, &now) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t old_{};
};

}  // namespace

Child::Child(const std::string& command) {
  Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: Ctrl-C is for us, see ~Child. Its signals are as a program expects them, whatever we block.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "/bin/sh", flag = "-c", text = command;
  std::array<char*, 4> arguments = {shell.data(), flag.data(), text.data(), nullptr};
  const int error = posix_spawn(&pid_, shell.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    fail("spawn");
  }
  to_ = in.take(1);
  from_ = out.take(0);
  fcntl(to_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  close(to_);
  close(from_);
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Child::listen() {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(from_, buffer.data(), buffer.size());
  if (got > 0) heard_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

Child::Outcome Child::ask(const std::string& line, std::string& answer, std::chrono::milliseconds patience) {
  constexpr std::size_t kLongest = std::size_t{64} << 20;  // of an answer
  const NoPipeSignal quiet;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  pollfd before{from_, POLLIN, 0};
  if (poll(&before, 1, 0) > 0 && !listen()) return Outcome::ended;
  if (!heard_.empty()) return Outcome::talkative;
  const std::string sent = line + "\n";
  for (std::size_t written = 0, searched = 0;;) {
    if (const std::size_t end = heard_.find('\n', searched); end != std::string::npos && written == sent.size()) {
      answer = heard_.substr(0, end);
      const bool more = end + 1 < heard_.size();
      heard_.clear();
      return more ? Outcome::talkative : Outcome::answered;
    }
    searched = written == sent.size() ? heard_.size() : 0;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Outcome::late;
    if (heard_.size() > kLongest) return Outcome::talkative;
    std::array<pollfd, 2> ends = {pollfd{from_, POLLIN, 0}, pollfd{to_, POLLOUT, 0}};
    const int ready = poll(ends.data(), written < sent.size() ? 2 : 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return Outcome::ended;
    if (ready <= 0) continue;
    if (ends[1].revents != 0) {
      const ssize_t put = write(to_, sent.data() + written, sent.size() - written);
      const bool deaf = put < 0 && errno != EAGAIN;  // it has gone, but may have said something before
      written = deaf ? sent.size() : written + static_cast<std::size_t>(std::max<ssize_t>(0, put));
    }
    if (ends[0].revents == 0 || listen()) continue;
    answer = std::exchange(heard_, "");  // a last line need not end
    return answer.empty() ? Outcome::ended : Outcome::answered;
  }
}

}  // namespace pgdlm
