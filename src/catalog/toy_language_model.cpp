#include "catalog/language_model.h"
#include "models/toy.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

class ToyLanguageModel final : public LanguageModel {
 public:
  std::shared_ptr<Denoiser> denoiser() const override { return toy_.denoiser(); }
  std::shared_ptr<Reward> own_reward(std::string_view name) const override { return toy_.reward(name); }
  std::vector<std::string> own_rewards() const override { return ToyModel::reward_names(); }
  // Most of its many steps reveal nothing on a short canvas, and are free.
  ModelDefaults defaults() const override { return {.process = "mdlm", .length = 24, .has_eos = true}; }
  int max_length() const override { return ToyModel::kMaxLength; }
  Token mask() const override { return toy_.mask(); }
  Token eos() const override { return toy_.eos(); }

  std::vector<Token> encode(std::string_view text, std::string_view field) const override {
    return toy_.encode(text, field);
  }
  std::vector<Token> encode_chat(std::span<const Message>) const override {
    throw Error(ErrorCode::unsupported, "chat is on, but model toy knows no chat format", "leave out --chat");
  }
  Passage read(std::span<const Token> tokens, int prompt) const override {
    const auto first = static_cast<std::size_t>(prompt);
    return {toy_.decode(tokens.first(first)), toy_.decode(tokens.subspan(first)), toy_.decode(tokens)};
  }

  std::string show(std::span<const Token> tokens) const override {
    std::string words = toy_.decode(tokens);
    const std::string mask = toy_.words()[toy_.mask()];
    for (std::size_t at; (at = words.find(mask)) != std::string::npos;) words.replace(at, mask.size(), "_");
    return words;
  }
  std::string piece(Token token) const override {
    return token >= 0 && static_cast<std::size_t>(token) < toy_.words().size() ? " " + toy_.words()[token] : "";
  }

 private:
  ToyModel toy_;
};

}  // namespace

std::shared_ptr<const LanguageModel> make_toy_language_model() { return std::make_shared<ToyLanguageModel>(); }

}  // namespace pgdlm
