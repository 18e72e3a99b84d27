// Where networks run: one ggml device, on this machine or behind ggml's RPC. Shared by the models that were loaded onto
// it with the same options, which borrow its threads for each forward. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
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
  // The one that is open with these options, or a new one. Error{invalid_request} if there is no such device,
  // Error{unsupported} if it does not start.
  static std::shared_ptr<Device> open(const DeviceOptions& options);

  // Threads of the CPU, or a device of another kind as a whole, for the time of one forward. No more are lent than
  // there are: threads of one forward wait for each other, and must not wait for one that another forward keeps from
  // running.
  class Lease {
   public:
    explicit Lease(const Device& device, int count);  // waits until so many are free
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ggml_backend_t together() const;         // runs a graph with all of them: one, or all there are
    ggml_backend_t single(int which) const;  // runs one with the calling thread in the place of one of them

   private:
    const Device& device_;
    std::vector<int> threads_;
  };

  ggml_backend_t backend() const { return whole_.backend.get(); }
  bool cpu() const { return cpu_; }  // its memory is ours: weights stay in the mapped file, outputs are read in place
  int threads() const { return cpu_ ? static_cast<int>(singles_.size()) : 1; }  // that can be lent
  std::uint64_t waiting() const;  // leases that were asked for and not yet given
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
  static std::shared_ptr<Device> make(const DeviceOptions& options);
  static Runner start(ggml_backend_dev_t device, int threads);

  std::shared_ptr<const void> connection_;  // to an RPC server, shared by its devices
  Runner whole_;
  std::vector<Runner> singles_;  // the CPU with but the calling thread, one for each that can be lent
  bool cpu_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable given_back_;
  mutable std::vector<int> free_;                 // threads that are not lent
  mutable std::uint64_t asked_ = 0, served_ = 0;  // leases, in the order of asking: nobody waits for ever
};

}  // namespace pgdlm
