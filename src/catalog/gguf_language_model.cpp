#include <algorithm>
#include <utility>

#include "catalog/language_model.h"
#include "catalog/shelf.h"
#include "pgdlm/error.h"
#include "text/chat.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

class GgufLanguageModel final : public LanguageModel {
 public:
  explicit GgufLanguageModel(std::shared_ptr<Model> model)
      : model_(std::move(model)),
        denoiser_(make_denoiser(model_)),
        tokenizer_(Tokenizer::make(read_vocabulary(*model_->file()))),
        chat_(detect_chat_format(words())) {
    if (tokenizer_->size() > model_->sizes().vocab)
      throw Error(ErrorCode::bad_model, model_->file()->path() + ": tokenizer.ggml.tokens has " +
                                            std::to_string(tokenizer_->size()) + " tokens, token_embd.weight has " +
                                            std::to_string(model_->sizes().vocab) + " rows");
  }

  std::shared_ptr<Denoiser> denoiser() const override { return denoiser_; }
  ModelDefaults defaults() const override {
    const DiffusionHints& hints = model_->diffusion();
    return {.process = hints.process,
            .length = std::min(ModelDefaults{}.length, std::max(1, max_length() / 2)),
            .steps = hints.steps,
            .block_length = hints.block_length,
            .temperature = hints.temperature,
            .top_p = hints.top_p,
            .chat = chat_ != ChatFormat::none,
            .has_eos = eos() >= 0};
  }
  int max_length() const override { return model_->sizes().context; }
  Token mask() const override { return model_->diffusion().mask; }
  Token eos() const override { return words().eos; }
  Token eot() const override { return words().eot; }

  std::vector<Token> encode(std::string_view text, std::string_view) const override { return tokenizer_->encode(text); }
  std::vector<Token> encode_chat(std::span<const Message> messages) const override {
    if (chat_ == ChatFormat::none)
      throw Error(ErrorCode::unsupported, model_->file()->path() + ": chat is on, but the model knows no chat format",
                  "leave out --chat: a base model continues the prompt as it stands");
    return pgdlm::encode_chat(*tokenizer_, chat_, messages, true);
  }
  std::vector<Token> opening() const override {
    if (words().model == "bert") return {words().cls};
    return words().add_bos && words().bos >= 0 ? std::vector<Token>{words().bos} : std::vector<Token>{};
  }
  std::vector<Token> closing() const override {
    if (words().model == "bert") return {words().sep};
    return words().add_eos && words().eos >= 0 ? std::vector<Token>{words().eos} : std::vector<Token>{};
  }

  Passage read(std::span<const Token> tokens, int prompt) const override {
    const std::span<const Token> given = tokens.first(static_cast<std::size_t>(prompt));
    const auto end = std::find_if(tokens.begin() + prompt, tokens.end(),
                                  [this](Token token) { return (token == eos() || token == eot()) && token != -1; });
    const std::string reply = text({tokens.begin() + prompt, end});
    if (const auto message = last_user_message(*tokenizer_, chat_, given)) return {valid_utf8(*message), reply, reply};
    return {text(given), reply, text({tokens.begin(), end})};
  }
  std::string show(std::span<const Token> tokens) const override {
    std::string shown;
    for (const Token token : tokens) {
      if (token == mask())
        shown += '_';
      else if (token < tokenizer_->size())
        tokenizer_->append(shown, token);
    }
    return valid_utf8(shown);
  }
  std::string piece(Token token) const override {
    return token >= 0 && token < tokenizer_->size() ? valid_utf8(tokenizer_->piece(token)) : "";
  }

 private:
  const Vocabulary& words() const { return tokenizer_->vocabulary(); }

  // Rows of the embedding beyond the vocabulary have no text.
  std::string text(std::span<const Token> tokens) const {
    std::string bytes;
    for (const Token token : tokens)
      if (token < tokenizer_->size()) tokenizer_->append(bytes, token);
    return valid_utf8(bytes);
  }

  std::shared_ptr<Model> model_;
  std::shared_ptr<Denoiser> denoiser_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  ChatFormat chat_;
};

}  // namespace

std::shared_ptr<const LanguageModel> make_gguf_language_model(std::shared_ptr<Model> model) {
  return std::make_shared<GgufLanguageModel>(std::move(model));
}

std::shared_ptr<const LanguageModel> open_language_model(const std::string& name, const ModelOptions& options) {
  if (name == "toy") return make_toy_language_model();
  return make_gguf_language_model(Model::load(find_model(name), options));
}

}  // namespace pgdlm
