// What goes wrong at the edge, in OpenAI's form.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace pgdlm::serve {

class ApiError : public std::runtime_error {
 public:
  ApiError(int status, const std::string& message, std::string param = "", std::string code = "")
      : std::runtime_error(message), status_(status), param_(std::move(param)), code_(std::move(code)) {}

  int status() const { return status_; }
  std::string body() const;  // {"error": {"message", "type", "param", "code"}}

 private:
  int status_;
  std::string param_, code_;
};

ApiError as_api_error(const std::exception_ptr& error);  // an Error has the status of its code; anything else is 500

}  // namespace pgdlm::serve
