#include "models/devices.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__) || PGDLM_HAS(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace pgdlm {

const char* where_name(Where where) { return where == Where::cpu ? "cpu" : "rpc"; }
void PrintTo(Where where, std::ostream* out) { *out << where_name(where); }

RpcServer::RpcServer(int megabytes) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to an RPC server");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::string program = PGDLM_RPC_SERVER, limit = std::to_string(megabytes);
  char* arguments[] = {program.data(), megabytes > 0 ? limit.data() : nullptr, nullptr};
  const int status = posix_spawn(&child_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  int port = 0;
  std::FILE* told = fdopen(ends[0], "r");
  const bool listens = status == 0 && std::fscanf(told, "%d", &port) == 1;
  std::fclose(told);
  if (!listens) throw std::runtime_error(program + " did not start");
  endpoint_ = "127.0.0.1:" + std::to_string(port);
}

RpcServer::~RpcServer() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

std::shared_ptr<Model> load(const std::filesystem::path& path, const RpcServer& server, ModelOptions options) {
  options.device.rpc = server.endpoint();
#if defined(__SANITIZE_ADDRESS__) || PGDLM_HAS(address_sanitizer)
  const __lsan::ScopedDisabler quiet;  // what ggml knows of a server is kept as long as the process lives
#endif
  return Model::load(path, options);
}

std::shared_ptr<Model> load(const std::filesystem::path& path, Where where, ModelOptions options) {
  if (options.device.threads == 0) options.device.threads = 1;
  if (where == Where::cpu) return Model::load(path, options);
  static const RpcServer server;
  return load(path, server, std::move(options));
}

}  // namespace pgdlm
