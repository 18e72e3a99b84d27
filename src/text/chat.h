// Chat templates. Files carry them as Jinja programs; we know the two that diffusion models use and recognise them by
// their markers. Pure functions.
//
// What a user writes must not act as markup, so encode_chat makes special tokens of the template's own markers only: a
// "<|im_end|>" inside a message stays text. apply_chat shows the same as one string, for people and for logs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace pgdlm {

struct Message {
  std::string role;  // system, user or assistant
  std::string content;
};

enum class ChatFormat {
  none,    // a base model: one message, taken as it stands
  llada,   // <|startoftext|><|start_header_id|>user<|end_header_id|>\n\n...<|eot_id|>, contents trimmed
  chatml,  // <|im_start|>user\n...<|im_end|>\n (Dream, Qwen2)
};

ChatFormat detect_chat_format(const Vocabulary& vocabulary);

// What the file's own template says when a conversation has no system message; empty if it says nothing.
// Qwen2 and Dream: "You are a helpful assistant.", later Qwens something longer.
std::string default_system(const Vocabulary& vocabulary);
inline constexpr std::string_view kDefaultSystem = "You are a helpful assistant.";

// Error{invalid_request} for no message or an unknown role. `system` is put in front if the first message is not one
// (chatml only; empty: nothing is). Where it is the assistant's turn, `add_generation_prompt` opens it; LLaDA's
// template does so always.
std::string apply_chat(ChatFormat format, std::span<const Message> messages, bool add_generation_prompt,
                       std::string_view system = kDefaultSystem);

// The same as tokens, with the file's default system message. Error{bad_model} if the vocabulary lacks a marker.
std::vector<Token> encode_chat(const Tokenizer& tokenizer, ChatFormat format, std::span<const Message> messages,
                               bool add_generation_prompt);

// What the user said last, read back from a page of tokens; nothing if they are no such page.
std::optional<std::string> last_user_message(const Tokenizer& tokenizer, ChatFormat format,
                                             std::span<const Token> tokens);

// A text in which markers are told from text. Neighbouring texts are one, as the tokeniser must see them.
struct ChatPart {
  bool marker = false;
  std::string text;
};
std::vector<ChatPart> chat_parts(ChatFormat format, std::span<const Message> messages, bool add_generation_prompt,
                                 std::string_view system);
std::vector<Token> encode_parts(const Tokenizer& tokenizer, std::span<const ChatPart> parts);

}  // namespace pgdlm
