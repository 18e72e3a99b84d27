#include "options/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "options/values.h"

namespace pgdlm {
namespace {

constexpr std::string_view kGap = "[MASK";
constexpr int kLongestGap = 1 << 20;
const std::string kAllowed = "text with gaps [MASK:N], N from 1 to " + std::to_string(kLongestGap);

// What stands between "[MASK" and "]": nothing, or ":N".
int parse_gap(std::string_view inside) {
  if (inside.empty()) return 1;
  const std::string shown = fmt::format("[MASK{}]", inside);
  if (inside[0] != ':') bad_value("infill", shown, kAllowed);
  const int gap = parse_number<int>("infill", inside.substr(1), kAllowed);
  if (gap < 1 || gap > kLongestGap) bad_value("infill", shown, kAllowed);
  return gap;
}

}  // namespace

std::vector<Piece> parse_infill(std::string_view text) {
  const std::string_view whole = text;
  std::vector<Piece> pieces;
  std::int64_t masks = 0;
  for (std::size_t at; (at = text.find(kGap)) != std::string_view::npos;) {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) bad_value("infill", whole, kAllowed);
    const std::size_t inside = at + kGap.size();
    pieces.push_back({std::string(text.substr(0, at)), parse_gap(text.substr(inside, end - inside))});
    text.remove_prefix(end + 1);
    masks += pieces.back().gap;
    if (masks > kLongestGap) bad_value("infill", std::to_string(masks) + " masks", kAllowed + " in all");
  }
  if (pieces.empty()) bad_value("infill", whole, kAllowed + ", at least one gap");
  pieces.push_back({std::string(text), 0});
  return pieces;
}

int gap_count(const std::vector<Piece>& pieces) {
  int count = 0;
  for (const Piece& piece : pieces) count += piece.gap;
  return count;
}

std::vector<Message> parse_messages(const std::string& text) {
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const char* allowed = R"(a list [{"role": "user", "content": "..."}, ...] of JSON)";
  if (!list.is_array()) bad_value("messages", text, allowed);
  std::vector<Message> messages;
  for (const nlohmann::json& item : list) {
    const bool sound = item.is_object() && item.contains("role") && item["role"].is_string() &&
                       item.contains("content") && item["content"].is_string();
    if (!sound) bad_value("messages", text, allowed);
    messages.push_back({item["role"].get<std::string>(), item["content"].get<std::string>()});
  }
  return messages;
}

Canvas make_canvas(const LanguageModel& model, const Beginning& beginning, const std::vector<Piece>& pieces) {
  const bool chat = !beginning.conversation.empty();
  Canvas canvas{.tokens = chat ? model.encode_chat(beginning.conversation) : model.opening(), .eos = model.eos()};
  const auto append = [&](const std::vector<Token>& tokens) {
    canvas.tokens.insert(canvas.tokens.end(), tokens.begin(), tokens.end());
  };
  append(model.encode(beginning.prompt, "prompt"));
  for (const Piece& piece : pieces) {
    append(model.encode(piece.text, "infill"));
    canvas.tokens.insert(canvas.tokens.end(), static_cast<std::size_t>(piece.gap), model.mask());
  }
  append(model.closing());
  // Given words at the beginning are the prompt, wherever they came from: guidance and blocks start behind them.
  const auto gap = std::find(canvas.tokens.begin(), canvas.tokens.end(), model.mask());
  canvas.prompt = static_cast<int>(gap - canvas.tokens.begin());
  if (canvas.tokens.size() > static_cast<std::size_t>(model.max_length()))
    throw Error(ErrorCode::invalid_request,
                fmt::format("prompt of {} tokens and {} positions after it do not fit the canvas of this model, "
                            "allowed: {} in all",
                            canvas.prompt, canvas.tokens.size() - canvas.prompt, model.max_length()),
                "shorten the prompt or ask for less with -n");
  return canvas;
}

}  // namespace pgdlm
