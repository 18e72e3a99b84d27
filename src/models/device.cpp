#include "models/device.h"

#include <netdb.h>
#include <sched.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>

#include <ggml-rpc.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// ggml reports on stderr; what matters reaches our users as an Error.
void quiet_log(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

void start_ggml() {
  static std::once_flag once;
  std::call_once(once, [] {
    ggml_log_set(quiet_log, nullptr);
    ggml_cpu_init();
  });
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// ggml aborts the process when its RPC server is not there, so we knock first.
void require_reachable(const std::string& endpoint) {
  const Error wrong(ErrorCode::invalid_request, "rpc is '" + endpoint + "', expected host:port");
  const std::size_t colon = endpoint.rfind(':');
  const bool one = colon != std::string::npos && endpoint.find(':') == colon;  // as ggml takes it: no IPv6, no names
  if (!one || colon == 0 || colon + 1 == endpoint.size()) throw wrong;
  if (endpoint.find_first_not_of("0123456789", colon + 1) != std::string::npos) throw wrong;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(endpoint.substr(0, colon).c_str(), endpoint.substr(colon + 1).c_str(), &hints, &found) != 0)
    throw Error(ErrorCode::invalid_request, "rpc is '" + endpoint + "': no such host or port");
  bool reached = false;
  for (const addrinfo* a = found; a != nullptr && !reached; a = a->ai_next) {
    const int s = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (s < 0) continue;
    reached = connect(s, a->ai_addr, a->ai_addrlen) == 0;
    close(s);
  }
  freeaddrinfo(found);
  if (!reached)
    throw Error(ErrorCode::unsupported, "rpc is '" + endpoint + "': nobody listens there", "start ggml's rpc-server");
}

ggml_backend_dev_t rpc_device(const std::string& endpoint) {
  require_reachable(endpoint);
  ggml_backend_reg_t server = ggml_backend_rpc_add_server(endpoint.c_str());
  if (server == nullptr || ggml_backend_reg_dev_count(server) == 0)
    throw Error(ErrorCode::unsupported, "rpc is '" + endpoint + "': the server offers no device",
                "both sides need the same version of ggml");
  return ggml_backend_reg_dev_get(server, 0);
}

ggml_backend_dev_t local_device(const std::string& name) {
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    if (strcasecmp(ggml_backend_dev_name(device), name.c_str()) == 0) return device;
  }
  std::string all;
  for (const std::string& known : device_names()) all += (all.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::invalid_request, "device is '" + name + "', allowed: " + all);
}

}  // namespace

std::vector<std::string> device_names() {
  start_ggml();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i)
    names.emplace_back(ggml_backend_dev_name(ggml_backend_dev_get(i)));
  return names;
}

std::shared_ptr<Device> Device::open(const DeviceOptions& options) {
  start_ggml();
  if (options.threads < 0 || options.threads > GGML_MAX_N_THREADS)
    throw Error(ErrorCode::invalid_request, "threads is " + std::to_string(options.threads) +
                                                ", allowed: 0 (all cores) to " + std::to_string(GGML_MAX_N_THREADS));
  ggml_backend_dev_t found = options.rpc.empty() ? local_device(options.device) : rpc_device(options.rpc);

  std::shared_ptr<Device> device(new Device);
  device->backend_ = ggml_backend_dev_init(found, nullptr);
  if (device->backend_ == nullptr)
    throw Error(ErrorCode::unsupported, std::string("device ") + ggml_backend_dev_name(found) + " does not start");
  device->cpu_ = ggml_backend_is_cpu(device->backend_);
  if (device->cpu_) {
    device->threads_ = options.threads > 0 ? options.threads : usable_cores();
    ggml_threadpool_params params = ggml_threadpool_params_default(device->threads_);
    device->pool_ = ggml_threadpool_new(&params);
    ggml_backend_cpu_set_n_threads(device->backend_, device->threads_);
    ggml_backend_cpu_set_threadpool(device->backend_, device->pool_);
  }
  return device;
}

Device::~Device() {
  if (backend_ != nullptr) ggml_backend_free(backend_);
  if (pool_ != nullptr) ggml_threadpool_free(pool_);
}

std::string Device::name() const { return ggml_backend_name(backend_); }

}  // namespace pgdlm
