// A denoiser with its text side: how a prompt becomes a canvas and a canvas becomes text. One interface for the
// built-in toy and for GGUF files. Immutable but for the denoiser, which belongs to whoever runs it; any thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "pgdlm/plugin.h"
#include "text/chat.h"

namespace pgdlm {

// What a person, or a reward, reads in a canvas.
struct Passage {
  std::string prompt;  // as the user gave it: without chat markup
  std::string reply;   // what the model wrote after it
  std::string text;    // the whole: the reply alone in a conversation, prompt and reply otherwise
};

// How the model wants to be run if nobody says otherwise.
struct ModelDefaults {
  std::string process = "mdlm";
  int length = 64;                         // positions to generate
  std::optional<int> steps, block_length;  // empty: the process decides
  std::optional<double> temperature, top_p;
  bool chat = false;     // it was taught conversations
  bool has_eos = false;  // it can say that a text ends
};

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  virtual std::shared_ptr<Denoiser> denoiser() const = 0;
  // Rewards that only this model has, by their own names; null if it has none of this name.
  virtual std::shared_ptr<Reward> own_reward(std::string_view) const { return nullptr; }
  virtual std::vector<std::string> own_rewards() const { return {}; }
  virtual ModelDefaults defaults() const = 0;
  virtual int max_length() const = 0;  // positions of a canvas
  virtual Token mask() const = 0;
  virtual Token eos() const = 0;  // -1: none
  virtual Token eot() const { return -1; }

  // Text as tokens, nothing added. `field` is the option it came from, for messages.
  virtual std::vector<Token> encode(std::string_view text, std::string_view field) const = 0;
  // A conversation up to the assistant's turn. Error{unsupported} if the model knows no chat format.
  virtual std::vector<Token> encode_chat(std::span<const Message> messages) const = 0;
  virtual std::vector<Token> opening() const { return {}; }  // what stands before every text: BOS, [CLS]
  virtual std::vector<Token> closing() const { return {}; }  // and behind it: [SEP]

  // Special tokens are left out, and what follows the first end of text behind the prompt.
  virtual Passage read(std::span<const Token> tokens, int prompt) const = 0;
  // The whole canvas for a reader who watches it fill; masks are "_".
  virtual std::string show(std::span<const Token> tokens) const = 0;
  // One token as it stands in the middle of a text; special ones by their names.
  virtual std::string piece(Token token) const = 0;
};

// "toy", the path of a GGUF file, or its name on a shelf. Error{invalid_request} if it is none of them.
std::shared_ptr<const LanguageModel> open_language_model(const std::string& name, const ModelOptions& options = {});

std::shared_ptr<const LanguageModel> make_toy_language_model();
std::shared_ptr<const LanguageModel> make_gguf_language_model(std::shared_ptr<Model> model);

}  // namespace pgdlm
