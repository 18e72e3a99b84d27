// Counters for Prometheus. Loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "serve/models.h"
#include "serve/reply.h"

namespace pgdlm::serve {

struct Load {
  std::size_t running = 0, waiting = 0, connections = 0;
};

class Metrics {
 public:
  void count_reply(int status) { ++replies_[status]; }
  void count_text(const Result& result);
  void count_cancelled() { ++cancelled_; }
  std::string text(const Load& load, const Models& models) const;

 private:
  std::map<int, std::int64_t> replies_;
  std::int64_t texts_ = 0, tokens_ = 0, particles_ = 0, sweeps_ = 0, cancelled_ = 0;
  std::int64_t forwards_asked_ = 0, forwards_run_ = 0, rewards_asked_ = 0, rewards_run_ = 0;
  double seconds_ = 0, ess_ = 0;  // ess_: of the last weights of the last text
};

}  // namespace pgdlm::serve
