#include "convert/json_file.h"

#include <cmath>
#include <limits>

#include "gguf/byte_cursor.h"
#include "gguf/mapped_file.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

template <class T>
bool holds(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
  if constexpr (std::is_same_v<T, std::string>) return value.is_string();
  if constexpr (std::is_same_v<T, double>) return value.is_number();
  if constexpr (std::is_same_v<T, std::int64_t>)  // an unsigned one beyond int64 is not an id or a size
    return value.is_number_integer() &&
           !(value.is_number_unsigned() &&
             value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

template <class T>
const char* kind() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, std::int64_t>) return "an integer";
}

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump();
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return text;
}

}  // namespace

JsonFile::JsonFile(const std::filesystem::path& path) : path_(path.string()) {
  const MappedFile file(path);
  const char* text = reinterpret_cast<const char*>(file.bytes().data());
  try {
    json_ = nlohmann::json::parse(text, text + file.bytes().size());
  } catch (const nlohmann::json::exception& error) {
    fail(std::string("not valid JSON: ") + error.what(), kDamagedHint);
  }
  if (!json_.is_object()) fail(std::string("expected a JSON object, got ") + json_.type_name());
}

JsonFile JsonFile::if_there(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return JsonFile(path);
  JsonFile none;
  none.path_ = path.string();
  return none;
}

template <class T>
std::optional<T> JsonFile::get(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) continue;
    if (!holds<T>(*found)) fail(std::string(name) + ": expected " + kind<T>() + ", got " + shown(*found));
    return found->template get<T>();
  }
  return std::nullopt;
}

template std::optional<bool> JsonFile::get(std::initializer_list<std::string_view>) const;
template std::optional<double> JsonFile::get(std::initializer_list<std::string_view>) const;
template std::optional<std::int64_t> JsonFile::get(std::initializer_list<std::string_view>) const;
template std::optional<std::string> JsonFile::get(std::initializer_list<std::string_view>) const;

std::int64_t JsonFile::size(std::initializer_list<std::string_view> names,
                            std::optional<std::int64_t> otherwise) const {
  const auto value = get<std::int64_t>(names);
  if (!value && otherwise) return *otherwise;
  const std::string name(*names.begin());
  if (!value) fail(name + " is missing");
  if (*value < 1 || *value > std::numeric_limits<std::int32_t>::max())
    fail(name + ": expected 1 to 2147483647, got " + std::to_string(*value));
  return *value;
}

double JsonFile::real(std::string_view name, const nlohmann::json& value, Least least) const {
  const double number = value.is_number() ? value.get<double>() : -1;
  const auto stored = static_cast<float>(number);
  if (!std::isfinite(stored) || (least == Least::zero ? number < 0 : stored <= 0))
    fail(std::string(name) + ": expected a number " + (least == Least::zero ? "from 0 on" : "above 0") +
         " that float32 can hold, got " + shown(value));
  return number;
}

double JsonFile::positive(std::string_view name, double otherwise) const {
  const auto found = json_.find(name);
  return found == json_.end() || found->is_null() ? otherwise : real(name, *found);
}

void JsonFile::expect(std::string_view name, const nlohmann::json& value) const {
  const auto found = json_.find(name);
  if (found == json_.end() || found->is_null() || *found == value) return;
  throw Error(ErrorCode::unsupported,
              path_ + ": " + std::string(name) + " is " + shown(*found) + ", supported: " + shown(value));
}

void JsonFile::fail(const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::bad_model, path_ + ": " + message, hint);
}

}  // namespace pgdlm
