// A JSON file of a Hugging Face folder, whose fields are asked for by type; what is wrong is said with the names of
// file and field. Immutable, any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace pgdlm {

class JsonFile {
 public:
  // Error{invalid_request} if it cannot be read, Error{bad_model} if it is not a JSON object.
  explicit JsonFile(const std::filesystem::path& path);
  // An absent file is an empty object.
  static JsonFile if_there(const std::filesystem::path& path);

  const nlohmann::json& json() const { return json_; }
  const std::string& path() const { return path_; }

  // The first of these names that is there and not null, as T (std::int64_t, double, bool, std::string);
  // Error{bad_model} if it has another type.
  template <class T>
  std::optional<T> get(std::initializer_list<std::string_view> names) const;
  template <class T>
  std::optional<T> get(std::string_view name) const {
    return get<T>({name});
  }
  template <class T>
  T get_or(std::initializer_list<std::string_view> names, T otherwise) const {
    return get<T>(names).value_or(std::move(otherwise));
  }
  // A size: an integer from 1 to 2^31 - 1. Absence is an error unless there is a default.
  std::int64_t size(std::initializer_list<std::string_view> names, std::optional<std::int64_t> otherwise = {}) const;

  // A number above 0, or from 0 on, that a GGUF file can hold, which has float32.
  enum class Least { above_zero, zero };
  double real(std::string_view name, const nlohmann::json& value, Least least = Least::above_zero) const;
  double positive(std::string_view name, double otherwise) const;

  // Error{unsupported} unless the field is absent, null or equal to `value`: other values mean another model.
  void expect(std::string_view name, const nlohmann::json& value) const;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;  // Error{bad_model}

 private:
  JsonFile() = default;

  std::string path_;
  nlohmann::json json_ = nlohmann::json::object();
};

}  // namespace pgdlm
