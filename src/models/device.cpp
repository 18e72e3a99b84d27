#include "models/device.h"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include <ggml-rpc.h>

#include "base/crew.h"
#include "models/rpc_hello.h"
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

// ggml has one connection to a server for all of this process, and a server talks to one client at a time: while a
// Device holds this, another handshake would wait for ourselves.
std::shared_ptr<const void> rpc_connection(const DeviceOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const void>> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const void> connection = open[options.rpc].lock();
  if (connection) return connection;
  require_rpc_server(options.rpc, options.rpc_patience);
  connection = std::make_shared<const char>();
  open[options.rpc] = connection;
  return connection;
}

ggml_backend_dev_t rpc_device(const std::string& endpoint) {
  ggml_backend_reg_t server = ggml_backend_rpc_add_server(endpoint.c_str());
  if (server == nullptr || ggml_backend_reg_dev_count(server) == 0)
    throw Error(ErrorCode::unsupported, "rpc is '" + endpoint + "': the server offers no device");
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

std::string megabytes(std::size_t bytes) {
  constexpr std::size_t kMegabyte = 1 << 20;
  return std::to_string((bytes + kMegabyte - 1) / kMegabyte) + " MB";
}

std::vector<std::string> device_names() {
  start_ggml();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i)
    names.emplace_back(ggml_backend_dev_name(ggml_backend_dev_get(i)));
  return names;
}

std::shared_ptr<Device> Device::open(const DeviceOptions& options) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::string, int>, std::weak_ptr<Device>> known;
  const std::lock_guard lock(mutex);
  std::weak_ptr<Device>& slot = known[{options.device, options.rpc, options.threads}];
  std::shared_ptr<Device> device = slot.lock();
  if (!device) slot = device = make(options);
  return device;
}

std::shared_ptr<Device> Device::make(const DeviceOptions& options) {
  start_ggml();
  if (options.threads < 0 || options.threads > GGML_MAX_N_THREADS)
    throw Error(ErrorCode::invalid_request, "threads is " + std::to_string(options.threads) +
                                                ", allowed: 0 (all cores) to " + std::to_string(GGML_MAX_N_THREADS));
  std::shared_ptr<Device> device(new Device);
  if (!options.rpc.empty()) device->connection_ = rpc_connection(options);
  ggml_backend_dev_t found = options.rpc.empty() ? local_device(options.device) : rpc_device(options.rpc);
  const int threads = options.threads > 0 ? options.threads : std::min(usable_cores(), GGML_MAX_N_THREADS);
  device->whole_ = start(found, threads);
  device->cpu_ = ggml_backend_is_cpu(device->backend());
  for (int i = 0; device->cpu_ && i < threads; ++i) device->singles_.push_back(start(found, 1));
  for (int i = 0; i < device->threads(); ++i) device->free_.push_back(i);
  return device;
}

Device::Lease::Lease(const Device& device, int count) : device_(device) {
  std::unique_lock lock(device.mutex_);
  const auto wanted = static_cast<std::size_t>(count);
  const std::uint64_t ticket = device.asked_++;
  device.given_back_.wait(lock, [&] { return ticket == device.served_ && device.free_.size() >= wanted; });
  ++device.served_;
  threads_.assign(device.free_.end() - count, device.free_.end());
  device.free_.resize(device.free_.size() - wanted);
  device.given_back_.notify_all();  // the next in line may be content with what is left
}

Device::Lease::~Lease() {
  {
    const std::lock_guard lock(device_.mutex_);
    device_.free_.insert(device_.free_.end(), threads_.begin(), threads_.end());
  }
  device_.given_back_.notify_all();
}

ggml_backend_t Device::Lease::together() const {
  return static_cast<int>(threads_.size()) == device_.threads() ? device_.backend() : single(0);
}

ggml_backend_t Device::Lease::single(int which) const {
  return device_.singles_[static_cast<std::size_t>(threads_[static_cast<std::size_t>(which)])].backend.get();
}

Device::Runner Device::start(ggml_backend_dev_t device, int threads) {
  Runner runner;
  runner.backend.reset(ggml_backend_dev_init(device, nullptr));
  if (!runner.backend)
    throw Error(ErrorCode::unsupported, std::string("device ") + ggml_backend_dev_name(device) + " does not start");
  if (!ggml_backend_is_cpu(runner.backend.get())) return runner;
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  params.poll = 0;  // between graphs its threads sleep: others of ours may need their cores
  runner.pool.reset(ggml_threadpool_new(&params));
  ggml_backend_cpu_set_n_threads(runner.backend.get(), threads);
  ggml_backend_cpu_set_threadpool(runner.backend.get(), runner.pool.get());
  return runner;
}

std::uint64_t Device::waiting() const {
  const std::lock_guard lock(mutex_);
  return asked_ - served_;
}

std::string Device::name() const { return ggml_backend_name(backend()); }

}  // namespace pgdlm
