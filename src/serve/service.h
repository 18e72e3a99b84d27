// What is answered at which path. Owned by `pgdlm serve`; everything happens on the loop's thread, but for what takes
// long: the front desk reads orders and opens models, the back room scores texts and reads stores.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "serve/completion.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/order.h"
#include "serve/rewards.h"
#include "serve/worker.h"

namespace pgdlm::serve {

struct ServiceOptions {
  HttpServerOptions http;
  std::string api_key;                    // empty: everybody may
  std::vector<std::string> allow_origin;  // pages of other hosts that may ask; "*": all
  ModelsOptions models;
  RewardsOptions rewards;
  GenerateOptions defaults;
  RequestLimits limits;
  int parallel = 64;             // completions in the engine
  int queue = 256;               // completions that wait
  double grace = 10;             // seconds that running requests have when the server is stopped
  std::filesystem::path traces;  // a folder, or empty
  std::filesystem::path store;   // of studies; need not exist
};

class Service {
 public:
  Service(Loop& loop, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  int port() const { return http_->port(); }
  // No new requests; those that run are finished, or, after the grace, end with the best they have. Then the loop
  // stops.
  void shut_down();

 private:
  using Route = std::function<void(const ExchangePtr&)>;
  struct Path {
    std::string method, path;
    Route route;
  };

  void add_routes();
  void handle(const ExchangePtr& exchange);
  void dispatch(const ExchangePtr& exchange);
  bool origin_allowed(const HttpRequest& request) const;
  void check_access(const HttpRequest& request) const;
  void reply_json(const ExchangePtr& exchange, const std::string& body, int status = 200);
  void reply_error(const ExchangePtr& exchange, const std::exception_ptr& error);
  // On a worker, unless nobody waits for it any more; what it throws is the answer. ApiError{429} if too much waits.
  void work(Worker& worker, const ExchangePtr& exchange, std::function<void()> job);
  // The same for what is to be answered.
  void answer_by(Worker& worker, const ExchangePtr& exchange, std::function<std::string(const HttpRequest&)> make);

  void on_completion(const ExchangePtr& exchange, bool chat);
  void admit(const ExchangePtr& exchange, Order order);
  void start_waiting();
  void on_control(const ExchangePtr& exchange);
  void on_events(const ExchangePtr& exchange, const std::string& id);
  std::string live_runs() const;
  std::string models_json() const;
  std::string model_json(const std::string& name) const;
  std::string props() const;
  Load load() const;

  Loop& loop_;
  ServiceOptions options_;
  Models models_;
  Rewards rewards_;
  Metrics metrics_;
  std::vector<Path> paths_;
  std::mt19937_64 random_{std::random_device{}()};
  std::map<std::string, std::shared_ptr<Completion>> completions_;  // by id; the ended ones too, while they are kept
  std::deque<std::shared_ptr<Completion>> waiting_;
  std::size_t running_ = 0, ordering_ = 0;
  std::size_t in_engine_ = 0;  // runs, those included that nobody waits for any more
  bool closing_ = false;
  Timer ping_, grace_;
  std::unique_ptr<HttpServer> http_;
  Worker back_room_, front_desk_;  // last: they stand still before what they use goes
};

}  // namespace pgdlm::serve
