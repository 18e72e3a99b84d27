#include "text/chat.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

// Strings of parts, put together marker by marker.
class Page {
 public:
  Page& marker(std::string_view name) {
    parts_.push_back({true, std::string(name)});
    return *this;
  }
  Page& text(std::string_view text) {
    if (parts_.empty() || parts_.back().marker) parts_.push_back({false, ""});
    parts_.back().text += text;
    return *this;
  }
  std::vector<ChatPart> take() { return std::move(parts_); }

 private:
  std::vector<ChatPart> parts_;
};

void require_messages(std::span<const Message> messages) {
  if (messages.empty()) throw Error(ErrorCode::invalid_request, "messages: expected at least one, got none");
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (const std::string& role = messages[i].role; role != "system" && role != "user" && role != "assistant")
      throw Error(ErrorCode::invalid_request,
                  fmt::format("messages[{}].role is '{}', allowed: system, user, assistant", i, role));
}

// What Python's str.strip() takes away, which Jinja's `trim` is.
bool is_blank(char32_t code) { return is_space(code) || (code >= 0x1c && code <= 0x1f); }

std::string_view trim(std::string_view text) {
  std::size_t begin = 0, end = 0;  // of what stays
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = read_utf8(text.substr(at));
    at += step.length;
    if (step.kind == Utf8Step::kCharacter && is_blank(step.code)) continue;
    if (end == 0) begin = at - step.length;
    end = at;
  }
  return text.substr(begin, end - begin);
}

// The published template opens the assistant's turn at the end of every page, asked to or not.
std::vector<ChatPart> llada_parts(std::span<const Message> messages) {
  Page page;
  page.marker("<|startoftext|>");
  const auto header = [&](std::string_view role) {
    page.marker("<|start_header_id|>").text(role).marker("<|end_header_id|>").text("\n\n");
  };
  for (const Message& message : messages) {
    header(message.role);
    page.text(trim(message.content)).marker("<|eot_id|>");
  }
  header("assistant");
  return page.take();
}

std::vector<ChatPart> chatml_parts(std::span<const Message> messages, bool add_generation_prompt,
                                   std::string_view system) {
  Page page;
  const auto turn = [&](std::string_view role, std::string_view content) {
    page.marker("<|im_start|>").text(role).text("\n").text(content).marker("<|im_end|>").text("\n");
  };
  if (messages.front().role != "system" && !system.empty()) turn("system", system);
  for (const Message& message : messages) turn(message.role, message.content);
  if (add_generation_prompt) page.marker("<|im_start|>").text("assistant\n");
  return page.take();
}

}  // namespace

ChatFormat detect_chat_format(const Vocabulary& vocabulary) {
  const auto says = [&](std::string_view marker) { return vocabulary.chat_template.find(marker) != std::string::npos; };
  if (says("<|start_header_id|>")) return ChatFormat::llada;
  if (says("<|im_start|>")) return ChatFormat::chatml;
  return ChatFormat::none;
}

std::string default_system(const Vocabulary& vocabulary) {
  // A literal between the markers; where the message itself is put in, quotes or braces come before the end marker.
  constexpr std::string_view begin = "<|im_start|>system", end = "<|im_end|>";
  const std::string_view program = vocabulary.chat_template;
  for (std::size_t at = program.find(begin); at != std::string_view::npos; at = program.find(begin, at + 1)) {
    std::string_view text = program.substr(at + begin.size());
    if (text.starts_with("\\n"))
      text.remove_prefix(2);
    else if (text.starts_with('\n'))
      text.remove_prefix(1);
    else
      continue;
    text = text.substr(0, text.find(end));
    if (!text.empty() && text.find_first_of("'\"{}") == std::string_view::npos) return std::string(text);
  }
  return "";
}

std::vector<ChatPart> chat_parts(ChatFormat format, std::span<const Message> messages, bool add_generation_prompt,
                                 std::string_view system) {
  require_messages(messages);
  switch (format) {
    case ChatFormat::llada: return llada_parts(messages);
    case ChatFormat::chatml: return chatml_parts(messages, add_generation_prompt, system);
    case ChatFormat::none: break;
  }
  if (messages.size() > 1)
    throw Error(ErrorCode::unsupported,
                fmt::format("{} messages for a model without a known chat template, allowed: one", messages.size()),
                "give the whole conversation as one prompt, or use an instruction-tuned model");
  return {{false, messages.front().content}};
}

std::string apply_chat(ChatFormat format, std::span<const Message> messages, bool add_generation_prompt,
                       std::string_view system) {
  std::string page;
  for (const ChatPart& part : chat_parts(format, messages, add_generation_prompt, system)) page += part.text;
  return page;
}

std::vector<Token> encode_parts(const Tokenizer& tokenizer, std::span<const ChatPart> parts) {
  std::vector<Token> tokens;
  for (const ChatPart& part : parts) {
    if (!part.marker) {
      const std::vector<Token> text = tokenizer.encode(part.text);
      tokens.insert(tokens.end(), text.begin(), text.end());
      continue;
    }
    const Token marker = tokenizer.special(part.text);
    if (marker < 0)
      throw Error(ErrorCode::bad_model,
                  fmt::format("{}: the chat template needs the special token '{}', which is missing",
                              tokenizer.vocabulary().source, part.text));
    tokens.push_back(marker);
  }
  return tokens;
}

std::vector<Token> encode_chat(const Tokenizer& tokenizer, ChatFormat format, std::span<const Message> messages,
                               bool add_generation_prompt) {
  const std::vector<ChatPart> parts =
      chat_parts(format, messages, add_generation_prompt, default_system(tokenizer.vocabulary()));
  if (format == ChatFormat::none) return tokenizer.encode(parts.front().text, {.add_special = true});
  return encode_parts(tokenizer, parts);
}

std::optional<std::string> last_user_message(const Tokenizer& tokenizer, ChatFormat format,
                                             std::span<const Token> tokens) {
  if (format == ChatFormat::none) return std::nullopt;
  const bool llada = format == ChatFormat::llada;
  const Token begin = tokenizer.special(llada ? "<|start_header_id|>" : "<|im_start|>");
  const Token end = tokenizer.special(llada ? "<|eot_id|>" : "<|im_end|>");
  const std::string opening = llada ? "user<|end_header_id|>\n\n" : "user\n";
  std::optional<std::string> message;
  for (auto at = std::find(tokens.begin(), tokens.end(), begin); at != tokens.end();) {
    const auto close = std::find(at, tokens.end(), end);
    const std::string turn = tokenizer.decode({at + 1, close}, true);
    if (turn.starts_with(opening)) message = turn.substr(opening.size());
    at = std::find(close, tokens.end(), begin);
  }
  return message;
}

}  // namespace pgdlm
