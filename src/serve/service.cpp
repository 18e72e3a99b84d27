#include "serve/service.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/validate.h"
#include "options/config.h"
#include "pgdlm/error.h"
#include "serve/api_error.h"
#include "serve/openapi.h"
#include "serve/runs_api.h"
#include "serve/texts_api.h"
#include "serve/web_files.h"

namespace pgdlm::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::chrono::milliseconds kPingEvery{15'000};
constexpr const char* kJson = "application/json";
constexpr const char* kPolicy =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

std::string host_of(std::string_view address) {  // without the port
  const std::size_t bracket = address.find(']');
  const std::size_t colon = address.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return std::string(address.substr(0, colon));
}

bool is_loopback(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1" || host == "[::1]";
}

// In a time that does not tell how much of it was right.
bool same_key(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i % std::max<std::size_t>(1, b.size())]);
  return difference == 0;
}

bool is_public(const std::string& path) {  // the page asks for the key itself
  return path == "/health" || path == "/openapi.json" ||
         std::ranges::any_of(web_files(), [&](const WebFile& file) { return file.path == path; });
}

ordered_json card_json(const ModelCard& card, const Models& models) {
  return {{"id", card.name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "pgdlm"},
          {"meta",
           {{"loaded", models.opened(card.name) != nullptr},
            {"process", card.process},
            {"chat", card.chat},
            {"context", card.context}}}};
}

}  // namespace

Service::Service(Loop& loop, ServiceOptions options)
    : loop_(loop),
      options_(std::move(options)),
      models_(options_.models),
      rewards_(options_.rewards),
      ping_(loop,
            [this] {
              for (const auto& [id, completion] : completions_) completion->ping();
              ping_.set(kPingEvery);
            }),
      grace_(loop, [this] {
        for (const auto& [id, completion] : std::map(completions_))
          if (!completion->ended()) completion->finish();
      }) {
  options_.defaults.model = models_.cards().front().name;
  add_routes();
  models_.open("");  // what is wrong with it shows now, and the first request does not wait for it
  if (options_.defaults.reward != "none")
    rewards_.open(options_.defaults.reward, models_.open("")->language(), models_.open("")->name());
  options_.http.handle = [this](const ExchangePtr& exchange) { handle(exchange); };
  options_.http.error_body = [this](const HttpError& error) {
    metrics_.count_reply(error.status);
    return ApiError(error.status, error.message).body();
  };
  http_ = std::make_unique<HttpServer>(loop_, options_.http);
  ping_.set(kPingEvery);
}

Service::~Service() = default;

void Service::add_routes() {
  const auto get = [this](std::string path, Route route) {
    paths_.push_back({"GET", std::move(path), std::move(route)});
  };
  const auto post = [this](std::string path, Route route) {
    paths_.push_back({"POST", std::move(path), std::move(route)});
  };
  const Archive archive{options_.traces, options_.store};

  post("/v1/completions", [this](const ExchangePtr& e) { on_completion(e, false); });
  post("/v1/chat/completions", [this](const ExchangePtr& e) { on_completion(e, true); });
  post("/v1/chat/completions/control", [this](const ExchangePtr& e) { on_control(e); });
  get("/v1/models", [this](const ExchangePtr& e) { reply_json(e, models_json()); });
  post("/v1/score", [this](const ExchangePtr& e) {
    answer_by(back_room_, e,
              [this](const HttpRequest& r) { return score(r.body, rewards_, options_.defaults.reward); });
  });
  for (const char* path : {"/v1/rerank", "/rerank", "/reranking"})
    post(path, [this](const ExchangePtr& e) {
      answer_by(back_room_, e,
                [this](const HttpRequest& r) { return rerank(r.body, rewards_, options_.defaults.reward); });
    });
  post("/tokenize", [this](const ExchangePtr& e) {
    answer_by(front_desk_, e, [this](const HttpRequest& r) { return tokenize(r.body, models_); });
  });
  post("/detokenize", [this](const ExchangePtr& e) {
    answer_by(front_desk_, e, [this](const HttpRequest& r) { return detokenize(r.body, models_); });
  });
  get("/runs", [this, archive](const ExchangePtr& e) {
    answer_by(back_room_, e, [archive, live = live_runs()](const HttpRequest&) {
      return ordered_json({{"live", ordered_json::parse(live)},
                           {"traces", traces_in(archive)},
                           {"studies", studies_in(archive)}})
          .dump();
    });
  });
  get("/runs/report", [this, archive](const ExchangePtr& e) {
    work(back_room_, e, [this, e, archive] {
      loop_.post([this, e, page = report_page(archive)] {
        metrics_.count_reply(200);
        e->reply(200, "text/html; charset=utf-8", page);
      });
    });
  });
  get("/health", [this](const ExchangePtr& e) {
    reply_json(e, closing_ ? R"({"status":"shutting down"})" : R"({"status":"ok"})", closing_ ? 503 : 200);
  });
  get("/props", [this](const ExchangePtr& e) { reply_json(e, props()); });
  get("/metrics", [this](const ExchangePtr& e) {
    metrics_.count_reply(200);
    e->reply(200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(load(), models_));
  });
  get("/openapi.json", [this](const ExchangePtr& e) { reply_json(e, openapi()); });
  for (const WebFile& file : web_files())
    get(std::string(file.path), [this, file](const ExchangePtr& e) {
      metrics_.count_reply(200);
      e->reply(200, file.type, file.content, {{"Content-Security-Policy", kPolicy}, {"Cache-Control", "no-cache"}});
    });
}

// ---- Who may ask

bool Service::origin_allowed(const HttpRequest& request) const {
  const std::string origin = request.header("origin");
  if (origin.empty()) return true;
  for (const std::string& allowed : options_.allow_origin)
    if (allowed == "*" || allowed == origin) return true;
  const std::string host = request.header("host");
  return origin == "http://" + host || origin == "https://" + host;
}

// A page of another site, opened in the browser of someone who runs this server, must not use it: neither by asking
// this address, nor by a name of its own that resolves to it.
void Service::check_access(const HttpRequest& request) const {
  if (!origin_allowed(request))
    throw ApiError(403, "pages of this origin may not use the server (--allow-origin)", "", "origin_not_allowed");
  const bool private_use = is_loopback(options_.http.host) && options_.api_key.empty();
  if (private_use && !request.http_1_0 && !is_loopback(host_of(request.header("host"))))
    throw ApiError(403, "the header host must be that of this machine (localhost)", "", "host_not_allowed");
  if (options_.api_key.empty() || is_public(request.path)) return;
  const std::string given = request.header("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  const bool right = given.starts_with(kBearer) && same_key(given.substr(kBearer.size()), options_.api_key);
  if (!right)
    throw ApiError(401, "the API key is missing or wrong, expected the header Authorization: Bearer KEY", "",
                   "invalid_api_key");
}

void Service::handle(const ExchangePtr& exchange) {
  try {
    dispatch(exchange);
  } catch (...) {
    reply_error(exchange, std::current_exception());
  }
}

void Service::dispatch(const ExchangePtr& exchange) {
  const HttpRequest& request = exchange->request();
  if (const std::string origin = request.header("origin"); !origin.empty() && origin_allowed(request))
    exchange->add_header("Access-Control-Allow-Origin", origin);
  exchange->add_header("X-Content-Type-Options", "nosniff");
  if (request.method == "OPTIONS") {
    exchange->add_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    exchange->add_header("Access-Control-Allow-Headers", "*, Authorization");
    return exchange->reply(204, "", "");
  }
  check_access(request);
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  bool known = false;
  for (const Path& path : paths_) {
    if (path.path != request.path) continue;
    known = true;
    if (path.method == method) return path.route(exchange);
  }
  constexpr std::string_view kModels = "/v1/models/", kTraces = "/runs/traces/", kRuns = "/runs/", kEvents = "/events";
  const std::string& path = request.path;
  if (method == "GET" && path.starts_with(kModels))
    return reply_json(exchange, model_json(path.substr(kModels.size())));
  if (method == "GET" && path.starts_with(kTraces))
    return answer_by(back_room_, exchange, [this, name = path.substr(kTraces.size())](const HttpRequest&) {
      return trace_json(name, {options_.traces, options_.store}, models_);
    });
  if (request.method == "GET" && path.starts_with(kRuns) && path.ends_with(kEvents) &&
      path.size() > kRuns.size() + kEvents.size())
    return on_events(exchange, path.substr(kRuns.size(), path.size() - kRuns.size() - kEvents.size()));
  if (known) throw ApiError(405, fmt::format("{} does not answer {}", path, request.method));
  throw ApiError(404, fmt::format("there is nothing at {}; /openapi.json lists what there is", path), "", "not_found");
}

void Service::reply_json(const ExchangePtr& exchange, const std::string& body, int status) {
  metrics_.count_reply(status);
  exchange->reply(status, kJson, body);
}

void Service::reply_error(const ExchangePtr& exchange, const std::exception_ptr& error) {
  const ApiError told = as_api_error(error);
  metrics_.count_reply(told.status());
  Headers headers;
  if (told.status() == 429 || told.status() == 503) headers.emplace_back("Retry-After", "1");
  exchange->reply(told.status(), kJson, told.body(), headers);
}

void Service::answer_by(Worker& worker, const ExchangePtr& exchange,
                        std::function<std::string(const HttpRequest&)> make) {
  work(worker, exchange, [this, exchange, make = std::move(make)] {
    loop_.post([this, exchange, body = make(exchange->request())] { reply_json(exchange, body); });
  });
}

void Service::work(Worker& worker, const ExchangePtr& exchange, std::function<void()> job) {
  const bool taken = worker.post([this, exchange, job = std::move(job)] {
    if (exchange->gone()) return;
    try {
      job();
    } catch (...) {
      loop_.post([this, exchange, error = std::current_exception()] { reply_error(exchange, error); });
    }
  });
  if (!taken) throw ApiError(429, "too much is waiting already; try again later", "", "queue_full");
}

// ---- Completions

void Service::on_completion(const ExchangePtr& exchange, bool chat) {
  if (closing_) throw ApiError(503, "the server is shutting down");
  if (ordering_ + waiting_.size() >= static_cast<std::size_t>(options_.queue) &&
      running_ + ordering_ >= static_cast<std::size_t>(options_.parallel))
    throw ApiError(429, fmt::format("{} requests are waiting already; try again later", waiting_.size() + ordering_),
                   "", "queue_full");
  const auto order = [this, exchange, chat, seed = random_() >> 33] {
    try {
      if (exchange->gone()) throw ApiError(400, "nobody waits for it");
      const OrderDesk desk{models_, rewards_, options_.defaults, options_.limits, options_.traces};
      Order made = make_order(read_ask(exchange->request(), chat, options_.defaults), desk, seed);
      for (const Choice& choice : made.choices) validate(choice.request, *made.model->language()->denoiser());
      loop_.post([this, exchange, made = std::move(made)]() mutable { admit(exchange, std::move(made)); });
    } catch (...) {
      loop_.post([this, exchange, error = std::current_exception()] {
        --ordering_;
        reply_error(exchange, error);
        start_waiting();
      });
    }
  };
  if (!front_desk_.post(order)) throw ApiError(429, "too much is waiting already; try again later", "", "queue_full");
  ++ordering_;
}

void Service::admit(const ExchangePtr& exchange, Order order) {
  --ordering_;
  if (closing_) reply_error(exchange, std::make_exception_ptr(ApiError(503, "the server is shutting down")));
  if (!exchange->open()) return start_waiting();  // sent away, or gone while its order was read
  const Signature signature{.id = fmt::format("{}-{:016x}", order.ask.chat ? "chatcmpl" : "cmpl", random_()),
                            .created = std::time(nullptr)};
  const auto completion = std::make_shared<Completion>(
      loop_, std::move(order), signature, options_.traces,
      CompletionHooks{.made = [this](const Result& result) { metrics_.count_text(result); },
                      .replied = [this](int status) { metrics_.count_reply(status); },
                      .submitted = [this] { ++in_engine_; },
                      .returned =
                          [this] {
                            --in_engine_;
                            loop_.post([this] { start_waiting(); });
                          },
                      .ended =
                          [this, id = signature.id] {
                            const auto self = completions_.at(id);
                            if (self->started())
                              --running_;
                            else
                              std::erase(waiting_, self);
                            if (self->abandoned()) metrics_.count_cancelled();
                            loop_.post([this] { start_waiting(); });
                          },
                      .forget = [this, id = signature.id] { completions_.erase(id); }});
  completions_[signature.id] = completion;
  completion->listen(exchange);
  waiting_.push_back(completion);
  start_waiting();
}

void Service::start_waiting() {
  while (!waiting_.empty() && running_ < static_cast<std::size_t>(options_.parallel)) {
    const auto next = waiting_.front();
    waiting_.pop_front();
    ++running_;
    next->start();
  }
  const bool idle = running_ == 0 && in_engine_ == 0 && waiting_.empty() && ordering_ == 0;
  if (closing_ && idle) http_->close([this] { loop_.stop(); });
}

void Service::on_control(const ExchangePtr& exchange) {
  const json body = parse_body(exchange->request().body);
  const auto text = [&](const char* name) {
    const auto found = body.find(name);
    if (found == body.end() || !found->is_string())
      throw ApiError(400, fmt::format("{} is missing, expected a string", name), name);
    return found->get<std::string>();
  };
  const std::string id = text("id"), action = text("action");
  if (action != "finish") throw ApiError(400, fmt::format("action is '{}', allowed: finish", action), "action");
  const auto found = completions_.find(id);
  if (found == completions_.end()) throw ApiError(404, fmt::format("there is no run '{}'", id), "id", "run_not_found");
  const bool ended = found->second->ended();
  if (!ended) found->second->finish();
  reply_json(exchange, ordered_json({{"id", id}, {"action", action}, {"accepted", !ended}}).dump());
}

void Service::on_events(const ExchangePtr& exchange, const std::string& id) {
  const auto found = completions_.find(id);
  if (found == completions_.end() || !found->second->order().ask.stream ||
      found->second->order().ask.reconnect_seconds <= 0)
    throw ApiError(404, fmt::format("there is no run '{}' to come back to", id), "id", "run_not_found");
  const HttpRequest& request = exchange->request();
  const auto after = request.query.find("after");
  const std::string text = after != request.query.end() ? after->second : request.header("last-event-id");
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    throw ApiError(400, fmt::format("after is '{}', expected the number of an event", text), "after");
  metrics_.count_reply(200);
  found->second->rejoin(exchange, number);
}

// ---- What there is

std::string Service::live_runs() const {
  ordered_json list = ordered_json::array();
  for (const auto& [id, completion] : completions_) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - completion->since();
    list.push_back({{"id", id},
                    {"model", completion->order().model->name()},
                    {"method", name_of(*completion->order().choices.front().options.method)},
                    {"state", completion->state()},
                    {"seconds", seconds.count()}});
  }
  return list.dump();
}

std::string Service::models_json() const {
  ordered_json data = ordered_json::array();
  for (const ModelCard& card : models_.cards()) data.push_back(card_json(card, models_));
  return ordered_json({{"object", "list"}, {"data", std::move(data)}}).dump();
}

std::string Service::model_json(const std::string& name) const { return card_json(models_.find(name), models_).dump(); }

std::string Service::props() const {
  ordered_json models = ordered_json::array(), rewards = ordered_json::array();
  for (const ModelCard& card : models_.cards()) models.push_back(card_json(card, models_));
  for (const RewardCard& card : models_.rewards()) rewards.push_back({{"name", card.name}, {"labels", card.labels}});
  ordered_json methods = ordered_json::array(), presets = ordered_json::array();
  for (const Named<Method>& method : kNames<Method>) methods.push_back(method.name);
  for (const Named<Preset>& preset : kNames<Preset>) presets.push_back(preset.name);
  return ordered_json({{"version", PGDLM_VERSION},
                       {"model", models_.cards().front().name},
                       {"models", std::move(models)},
                       {"rewards", std::move(rewards)},
                       {"methods", std::move(methods)},
                       {"presets", std::move(presets)},
                       {"defaults", ordered_json::parse(to_config(options_.defaults))},
                       {"limits",
                        {{"tokens", options_.limits.tokens},
                         {"particles", options_.limits.particles},
                         {"forwards", options_.limits.forwards},
                         {"seconds", options_.limits.seconds}}}})
      .dump();
}

Load Service::load() const {
  return {.running = running_, .waiting = waiting_.size() + ordering_, .connections = http_->connections()};
}

// ---- The end

void Service::shut_down() {
  if (std::exchange(closing_, true)) return;
  for (const auto& completion : std::deque(waiting_))
    completion->fail(std::make_exception_ptr(ApiError(503, "the server is shutting down")));
  grace_.set(std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options_.grace)));
  start_waiting();
}

}  // namespace pgdlm::serve
