// The one exception of pgdlm. It ends a request, never the process; each edge maps its code once
// (exit code, HTTP status, Python exception). Expected outcomes are values of Answer, not errors.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace pgdlm {

enum class ErrorCode { invalid_request, bad_model, unsupported, exhausted, cancelled, internal };

class Error : public std::runtime_error {
 public:
  // `message` says what was wrong (field, value, what is allowed); `hint` what to do about it, may be empty.
  Error(ErrorCode code, const std::string& message, std::string hint = "")
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

  ErrorCode code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorCode code_;
  std::string hint_;
};

}  // namespace pgdlm
