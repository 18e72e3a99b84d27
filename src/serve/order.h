// From what a client asks to what the engine is given: the model and its reward are opened, the settings settled, the
// canvas made to fit. What was wrong with the request shows here, before anything is computed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "options/options.h"
#include "pgdlm/request.h"
#include "serve/ask.h"
#include "serve/models.h"
#include "serve/rewards.h"

namespace pgdlm::serve {

// What one request may use.
struct RequestLimits {
  int tokens = 4096;
  int particles = 256;
  std::int64_t forwards = 1'000'000;
  double seconds = 600;
};

// One text that is to be made.
struct Choice {
  GenerateOptions options;  // settled
  Request request;
  int given = 0;   // tokens of the prompt
  int length = 0;  // positions to generate behind them
};

struct Order {
  CompletionAsk ask;
  std::shared_ptr<ServedModel> model;
  std::vector<Choice> choices;
  std::vector<std::string> warnings;
};

struct OrderDesk {
  Models& models;
  Rewards& rewards;
  GenerateOptions defaults;
  RequestLimits limits;
  std::filesystem::path traces;  // empty: nothing is recorded
};

// ApiError or Error. `any_seed` is taken where the client names none.
Order make_order(CompletionAsk ask, const OrderDesk& desk, std::uint64_t any_seed);

// The same text without steering: what is left when the reward fails.
Choice plain_choice(const Choice& choice, const ServedModel& model);

}  // namespace pgdlm::serve
