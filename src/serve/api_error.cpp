#include "serve/api_error.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "options/wording.h"
#include "pgdlm/error.h"
#include "serve/fields.h"
#include "text/utf8.h"

namespace pgdlm::serve {
namespace {

using nlohmann::ordered_json;

const char* type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    case 502:
    case 503: return "unavailable_error";
    default: return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
    case ErrorCode::unsupported: return 400;
    case ErrorCode::exhausted:
    case ErrorCode::cancelled: return 503;
    case ErrorCode::bad_model:
    case ErrorCode::internal: return 500;
  }
  return 500;
}

// "diffusion-steps is 0, allowed: ...": the option that a message begins with, where a body has it.
std::string field_in(const std::string& message) {
  std::string field = message.substr(0, message.find(" is "));
  std::ranges::replace(field, '-', '_');
  if (field.size() == message.size()) return "";
  for (const OptionField& known : its_fields())
    if (known.option == field) return "its." + known.name;
  for (const OptionField& known : diffusion_fields())
    if (known.option == field) return "diffusion." + known.name;
  return field == "n_predict" ? "max_tokens" : "";
}

}  // namespace

std::string ApiError::body() const {
  const auto or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
  constexpr std::size_t kLongest = 500;  // of what may quote the request
  const ordered_json object = {{"error",
                                {{"message", valid_utf8(std::string(what()).substr(0, kLongest))},
                                 {"type", type_of(status_)},
                                 {"param", or_null(param_)},
                                 {"code", or_null(code_)}}}};
  return object.dump();
}

ApiError as_api_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& e) {
    return e;
  } catch (const Error& e) {
    const std::string message = with_option_names(e.what());
    return ApiError(status_of(e.code()), message + (e.hint().empty() ? "" : " (" + e.hint() + ")"), field_in(message));
  } catch (const std::bad_alloc&) {
    return ApiError(503, "there is not enough memory for this request");
  } catch (const std::exception& e) {
    return ApiError(500, e.what());
  }
}

}  // namespace pgdlm::serve
