#define PCRE2_CODE_UNIT_WIDTH 8
#include "rewards/pattern.h"

#include <pcre2.h>

#include <array>

#include <fmt/format.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000;  // of backtracking: a hundredth of a second or so

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes(const std::string& text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(pcre2_code* c) : code(c) { pcre2_set_match_limit(context, kMostSteps); }
  ~Compiled() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  pcre2_code* code;
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
};

Pattern::Pattern(const std::string& pattern, bool ignore_case) : source_(pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  const std::uint32_t options = PCRE2_UTF | (ignore_case ? PCRE2_CASELESS : 0U);
  pcre2_code* code = pcre2_compile(bytes(pattern), pattern.size(), options, &error, &at, nullptr);
  if (code == nullptr)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: regex:/{}/ is wrong at byte {}: {}", pattern, at + 1, message_of(error)));
  compiled_ = std::make_unique<const Compiled>(code);
}

Pattern::~Pattern() = default;

bool Pattern::found_in(const std::string& text) const {
  pcre2_match_data* data = pcre2_match_data_create_from_pattern(compiled_->code, nullptr);
  const int found = pcre2_match(compiled_->code, bytes(text), text.size(), 0, 0, data, compiled_->context);
  pcre2_match_data_free(data);
  const bool broken_text = found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21;
  if (found < 0 && found != PCRE2_ERROR_NOMATCH && !broken_text)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: regex:/{}/ fails on a text: {}", source_, message_of(found)),
                "write it without nested repetition, as in (a+)+");
  return found >= 0;
}

}  // namespace pgdlm
