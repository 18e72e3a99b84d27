// The one list of what a body of a completion may hold. The reader looks names up here and /openapi.json is made of it,
// so neither can know a field that the other does not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace pgdlm::serve {

enum class Endpoint { both, completions, chat };

struct Field {
  const char* name;
  const char* type;  // of JSON; several are separated by "|"
  const char* help;
  Endpoint endpoint = Endpoint::both;
};
std::span<const Field> completion_fields();

// The fields of `its` and `diffusion` are options of `pgdlm generate`; some have a name of their own here.
struct OptionField {
  std::string name;    // in the object
  std::string option;  // as a configuration has it (options/config.h)
  std::string help;
};
std::vector<OptionField> its_fields();
std::vector<OptionField> diffusion_fields();

// Typed reading of a JSON object. null is the same as absent. A value of another type is an ApiError that names it.
class Body {
 public:
  explicit Body(const nlohmann::json& object) : object_(object) {}

  const nlohmann::json* find(const char* name) const;  // of completion_fields
  std::optional<std::string> text(const char* name) const;
  std::optional<bool> flag(const char* name) const;
  std::optional<int> whole(const char* name, int least, int most) const;
  std::optional<double> number(const char* name, double least, double most) const;
  // A text, or a list of them.
  std::vector<std::string> texts(const char* name, std::size_t most) const;

 private:
  const nlohmann::json& object_;
};

// A body as JSON. ApiError if it is not an object, nested too deeply, or no UTF-8.
nlohmann::json parse_body(const std::string& text);

std::string shown(const nlohmann::json& value);  // short enough to be quoted in a message

}  // namespace pgdlm::serve
