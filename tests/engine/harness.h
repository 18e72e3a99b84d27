// What the engine's tests share: toy requests, and event streams as the bytes that must not change.
#pragma once

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "events/json.h"
#include "kit/toy_denoiser.h"
#include "pgdlm/engine.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"

namespace pgdlm::testkit {

inline constexpr int kTokens = 5;
inline constexpr Token kMask = kTokens;

// The events of one request as JSON lines. `spent` is left out: what was run depends on who else was there.
class Stream final : public EventSink {
 public:
  void emit(const Event& event) override {
    events.push_back(event);
    if (std::holds_alternative<Spent>(event)) return;
    text += to_json_line(event, seq_++) + "\n";
  }
  template <class E>
  std::vector<E> all() const {
    std::vector<E> found;
    for (const Event& event : events) {
      if (const auto* e = std::get_if<E>(&event)) found.push_back(*e);
    }
    return found;
  }

  std::vector<Event> events;
  std::string text;

 private:
  std::int64_t seq_ = 0;
};

inline std::shared_ptr<kit::ToyDenoiser> toy_denoiser(bool time_dependent = false) {
  return std::make_shared<kit::ToyDenoiser>(
      kit::ToyDenoiserOptions{.tokens = kTokens, .time_dependent = time_dependent});
}

inline std::vector<Token> canvas(int length, std::vector<Token> prompt = {}) {
  prompt.resize(static_cast<std::size_t>(length), kMask);
  return prompt;
}

// Particle Gibbs on twelve positions behind a prompt of two; every field may then be changed.
inline Request toy_request(std::uint64_t seed, Method method = Method::particle_gibbs) {
  Request request;
  request.canvas = {.tokens = canvas(12, {1, 3}), .prompt = 2};
  request.steps = 8;
  request.process = make_mdlm();
  request.reward = std::make_shared<kit::ToyReward>();
  request.settings = preset(Preset::exact, method);
  request.settings.plan.particles = 4;
  request.settings.plan.iterations = 3;
  request.seed = seed;
  request.trace = true;
  return request;
}

// Submits a request, and keeps what comes of it. Must outlive the engine's run.
struct Submission {
  Stream stream;
  Ticket ticket = 0;
  bool finished = false;
  std::exception_ptr error;
  Answer answer;

  void submit(Engine& engine, Request request) {
    ticket = engine.submit(std::move(request), stream, [this](Ticket, std::exception_ptr e, Answer a) {
      finished = true;
      error = std::move(e);
      answer = std::move(a);
    });
  }
  bool succeeded() const { return finished && !error; }
  std::string failure() const {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::exception& e) {
      return e.what();
    }
    return finished ? "none" : "not finished";
  }
};

}  // namespace pgdlm::testkit
