// Where the models of a test run: on this CPU, whose memory is ours, or on ggml's RPC device, whose memory is not, as a
// GPU's would not be.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include "models/model.h"

namespace pgdlm {

#if defined(__has_feature)
#define PGDLM_HAS(sanitizer) __has_feature(sanitizer)
#else
#define PGDLM_HAS(sanitizer) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || PGDLM_HAS(address_sanitizer) || \
    PGDLM_HAS(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

enum class Where { cpu, rpc };
void PrintTo(Where where, std::ostream* out);
const char* where_name(Where where);

// An RPC server in a process of its own. It listens when the constructor is done.
class RpcServer {
 public:
  explicit RpcServer(int megabytes = 0);  // 0: all there is
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;
  const std::string& endpoint() const { return endpoint_; }

 private:
  pid_t child_ = 0;
  std::string endpoint_;
};

// With one thread, unless the options say otherwise: on a busy machine several wait for each other at every layer. The
// server of the test program is started when it is first needed.
std::shared_ptr<Model> load(const std::filesystem::path& path, Where where, ModelOptions options = {});
std::shared_ptr<Model> load(const std::filesystem::path& path, const RpcServer& server, ModelOptions options = {});

}  // namespace pgdlm
