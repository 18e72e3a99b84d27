// Where a network runs: one ggml device, on this machine or behind ggml's RPC. Owned by the model that was loaded onto
// it. A backend runs one graph at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <ggml-backend.h>
#include <ggml-cpu.h>

namespace pgdlm {

struct DeviceOptions {
  std::string device = "cpu";  // a name of `device_names()`; case does not matter
  // host:port of a ggml RPC server; its first device is used instead. A server that is lost while a model is on it ends
  // this process: ggml cannot go on.
  std::string rpc;
  std::chrono::milliseconds rpc_patience{10000};  // for the server's first answer
  int threads = 0;                                // of the CPU device; 0: as many as this process may run on
};

std::vector<std::string> device_names();
std::string megabytes(std::size_t bytes);  // in words, rounded up

class Device {
 public:
  // Error{invalid_request} if there is no such device, Error{unsupported} if it does not start.
  static std::shared_ptr<Device> open(const DeviceOptions& options);

  ggml_backend_t backend() const { return whole_.backend.get(); }
  bool cpu() const { return cpu_; }  // its memory is ours: weights stay in the mapped file, outputs are read in place
  int threads() const { return static_cast<int>(singles_.size()); }  // of the CPU, else 0
  // The CPU with but the calling thread; one for each of `threads`, so that they can run graphs of their own.
  ggml_backend_t single(int thread) const { return singles_[static_cast<std::size_t>(thread)].backend.get(); }
  std::string name() const;

 private:
  struct Free {
    void operator()(ggml_backend_t backend) const { ggml_backend_free(backend); }
    void operator()(ggml_threadpool_t pool) const { ggml_threadpool_free(pool); }
  };
  struct Runner {  // a backend and, on the CPU, its threads
    std::unique_ptr<ggml_threadpool, Free> pool;
    std::unique_ptr<ggml_backend, Free> backend;
  };

  Device() = default;
  static Runner start(ggml_backend_dev_t device, int threads);

  std::shared_ptr<const void> connection_;  // to an RPC server, shared by its devices
  Runner whole_;
  std::vector<Runner> singles_;
  bool cpu_ = false;
};

}  // namespace pgdlm
