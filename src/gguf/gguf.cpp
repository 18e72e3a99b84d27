#include "gguf/gguf.h"

#include <utility>

#include "gguf/header.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

template <class T>
constexpr const char* kKind = nullptr;
template <>
constexpr const char* kKind<std::int64_t> = "an integer";
template <>
constexpr const char* kKind<double> = "a number";
template <>
constexpr const char* kKind<bool> = "a boolean";
template <>
constexpr const char* kKind<std::string> = "a string";
template <>
constexpr const char* kKind<std::vector<std::int64_t>> = "an array of integers";
template <>
constexpr const char* kKind<std::vector<double>> = "an array of numbers";
template <>
constexpr const char* kKind<std::vector<bool>> = "an array of booleans";
template <>
constexpr const char* kKind<std::vector<std::string>> = "an array of strings";

const char* kind_of(const GgufValue& value) {
  return std::visit([](const auto& held) { return kKind<std::decay_t<decltype(held)>>; }, value);
}

// The value as T, integers also as doubles; nothing if it is something else.
template <class T>
std::optional<T> as(const GgufValue& value) {
  if (const T* same = std::get_if<T>(&value)) return *same;
  if constexpr (std::is_same_v<T, double>)
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if constexpr (std::is_same_v<T, std::vector<double>>)
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
      return T(integers->begin(), integers->end());
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Gguf> Gguf::open(const std::filesystem::path& path) {
  std::shared_ptr<Gguf> file(new Gguf);  // the constructor is private
  file->path_ = path.string();
  file->file_ = MappedFile(path);
  GgufHeader header = parse_gguf(file->file_.bytes(), file->path_);
  file->metadata_ = std::move(header.metadata);
  file->tensors_ = std::move(header.tensors);
  for (std::size_t i = 0; i < file->tensors_.size(); ++i) file->by_name_.emplace(file->tensors_[i].name, i);
  return file;
}

const GgufTensor* Gguf::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

template <class T>
std::optional<T> Gguf::get(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return std::nullopt;
  std::optional<T> value = as<T>(found->second);
  if (!value)
    throw Error(ErrorCode::bad_model,
                path_ + ": key '" + std::string(key) + "': expected " + kKind<T> + ", got " + kind_of(found->second));
  return value;
}

template <class T>
T Gguf::require(std::string_view key) const {
  std::optional<T> value = get<T>(key);
  if (!value)
    throw Error(ErrorCode::bad_model, path_ + ": key '" + std::string(key) + "' is missing, expected " + kKind<T>);
  return *std::move(value);
}

template std::optional<std::int64_t> Gguf::get(std::string_view) const;
template std::optional<double> Gguf::get(std::string_view) const;
template std::optional<bool> Gguf::get(std::string_view) const;
template std::optional<std::string> Gguf::get(std::string_view) const;
template std::optional<std::vector<std::int64_t>> Gguf::get(std::string_view) const;
template std::optional<std::vector<double>> Gguf::get(std::string_view) const;
template std::optional<std::vector<bool>> Gguf::get(std::string_view) const;
template std::optional<std::vector<std::string>> Gguf::get(std::string_view) const;
template std::int64_t Gguf::require(std::string_view) const;
template double Gguf::require(std::string_view) const;
template bool Gguf::require(std::string_view) const;
template std::string Gguf::require(std::string_view) const;
template std::vector<std::int64_t> Gguf::require(std::string_view) const;
template std::vector<double> Gguf::require(std::string_view) const;
template std::vector<bool> Gguf::require(std::string_view) const;
template std::vector<std::string> Gguf::require(std::string_view) const;

}  // namespace pgdlm
