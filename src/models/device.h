// Where a network runs: one ggml device, on this machine or behind ggml's RPC. Owned by the model that was loaded onto
// it. Graphs are run by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ggml-backend.h>
#include <ggml-cpu.h>

namespace pgdlm {

struct DeviceOptions {
  std::string device = "cpu";  // a name of `device_names()`; case does not matter
  std::string rpc;             // host:port of a ggml RPC server; its first device is used instead
  int threads = 0;             // of the CPU device; 0: as many as this process may run on
};

std::vector<std::string> device_names();

class Device {
 public:
  // Error{invalid_request} if there is no such device, Error{unsupported} if it does not start.
  static std::shared_ptr<Device> open(const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ggml_backend_t backend() const { return backend_; }
  bool cpu() const { return cpu_; }  // its memory is ours: weights stay in the mapped file, outputs are read in place
  int threads() const { return threads_; }
  std::string name() const;

 private:
  Device() = default;

  ggml_backend_t backend_ = nullptr;
  ggml_threadpool_t pool_ = nullptr;
  bool cpu_ = false;
  int threads_ = 0;
};

}  // namespace pgdlm
