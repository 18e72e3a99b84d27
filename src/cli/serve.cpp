#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "pgdlm/error.h"
#include "serve/service.h"

namespace pgdlm::cli {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

void make_folder(const std::string& traces) {
  if (traces.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(traces, failed);
  if (failed || ::access(traces.c_str(), W_OK) != 0)
    throw Error(ErrorCode::invalid_request,
                fmt::format("traces is '{}', which is no folder that can be written", traces));
}

serve::ServiceOptions service_options(const ServeOptions& o) {
  return {.http = {.host = o.host,
                   .port = o.port,
                   .limits = {.body_bytes = static_cast<std::size_t>(o.max_body_mb) << 20},
                   .patience = milliseconds(o.patience)},
          .api_key = o.api_key,
          .allow_origin = o.allow_origin,
          .models = {.names = o.models, .defaults = o.generate, .device = o.model, .threads = threads_of(o.model)},
          .rewards = {.opening = {.models = o.model, .patience = o.reward_patience},
                      .trusted = o.generate.reward,
                      .allow_exec = o.allow_exec},
          .defaults = o.generate,
          .limits = {.tokens = o.limit_tokens,
                     .particles = o.limit_particles,
                     .forwards = o.limit_forwards,
                     .seconds = o.limit_seconds},
          .parallel = o.parallel,
          .queue = o.queue,
          .grace = o.grace,
          .traces = o.traces,
          .store = o.store};
}

}  // namespace

int serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  make_folder(options.traces);
  serve::Loop loop;
  serve::Service service(loop, service_options(options));
  bool stopping = false;
  const auto stop = [&] {
    if (std::exchange(stopping, true)) ::_exit(kExitInterrupted);
    fmt::print(stderr, "stopping: running requests are finished; once more ends at once\n");
    service.shut_down();
  };
  const serve::SignalWatch interrupt(loop, SIGINT, stop), terminate(loop, SIGTERM, stop);
  fmt::print(stderr, "listening on http://{}:{}\n", options.host, service.port());
  loop.run();
  return 0;
}

}  // namespace pgdlm::cli
