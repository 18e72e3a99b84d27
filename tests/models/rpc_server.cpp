// rpc_server [MEGABYTES]: ggml's RPC server on this machine's CPU. Its buffers are not the client's memory, so what
// runs there would run on a GPU. Says on standard output which port it got, as soon as it listens there. With a number
// it has only so much memory. Ends with whoever started it.
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <ggml-backend.h>
#include <ggml-rpc.h>

namespace {

int announce = -1;

void limit_memory(rlim_t megabytes) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (megabytes << 20);
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

// ggml does not tell when its server is ready, nor which port it got, so this stands in for the system's function.
extern "C" int listen(int socket, int backlog) noexcept {
  const auto status = static_cast<int>(syscall(SYS_listen, socket, backlog));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  dprintf(announce, "%d\n", ntohs(address.sin_port));
  close(announce);
  return status;
}

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  announce = dup(STDOUT_FILENO);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return 1;  // ggml's server is talkative
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (argc > 1) limit_memory(std::strtoul(argv[1], nullptr, 10));
  ggml_backend_rpc_start_server("127.0.0.1:0", nullptr, 1, 1, &cpu);
  return 0;
}
