// What a client asks for, read from a body and its headers. JSON stops here. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "options/options.h"
#include "serve/fields.h"
#include "serve/http.h"
#include "text/chat.h"

namespace pgdlm::serve {

enum class StreamMode { block_append, denoise, best };

using TokenPrompt = std::vector<Token>;
using Prompt = std::variant<std::string, TokenPrompt>;

struct CompletionAsk {
  bool chat = false;
  std::string model;              // empty: the server's default
  std::vector<Prompt> prompts;    // of a completion
  std::vector<Message> messages;  // of a chat
  std::string suffix;
  bool echo = false;
  GenerateOptions options;  // all but prompt, messages and seed
  std::optional<int> budget;
  bool vote = false;           // of the candidates, the answer that most of them give
  bool wants_scaling = false;  // the request itself says how hard to try; else it is the server that wants it
  std::optional<std::uint64_t> seed;
  int n = 1;
  std::vector<std::string> stop;
  bool stream = false, include_usage = false, stream_events = false;
  StreamMode stream_mode = StreamMode::block_append;
  double reconnect_seconds = 0;
  bool response_only = true, return_tokens = false, deterministic = false, strict = false, trace = false;
  std::vector<std::string> warnings;
};

// `defaults`: what the server was started with. Header > body > defaults. ApiError names what is wrong.
CompletionAsk read_ask(const HttpRequest& request, bool chat, const GenerateOptions& defaults);

inline constexpr int kMostChoices = 128;
inline constexpr double kLongestReconnect = 300;

// What an algorithm of its_hub or of the paper is called here; nothing for "auto". ApiError lists the names.
std::optional<std::string> method_named(const std::string& algorithm, const std::string& field);

}  // namespace pgdlm::serve
