// Text to value and back, for every type an option may have. A bad value is an Error{invalid_request} that names the
// field, the value and what is allowed.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "options/names.h"
#include "pgdlm/error.h"
#include "text/utf8.h"

namespace pgdlm {

// --ess-threshold: a share of the particles below which the ESS triggers resampling, or always (nothing), or never (0).
struct EssFloor {
  std::optional<double> share;
};

using SchemePtr = const Scheme*;

[[noreturn]] inline void bad_value(std::string_view field, std::string_view value, const std::string& allowed) {
  throw Error(ErrorCode::invalid_request, std::string(field) + " is '" + std::string(value) + "', allowed: " + allowed);
}

template <class E>
std::string joined_names(std::string_view separator) {
  std::string all;
  for (const Named<E>& named : kNames<E>) all.append(all.empty() ? "" : separator).append(named.name);
  return all;
}

// What --help shows as the value of an option of this type.
template <class T>
std::string value_hint() {
  if constexpr (std::is_enum_v<T>)
    return joined_names<T>("|");
  else if constexpr (std::is_same_v<T, EssFloor>)
    return "X|always|never";
  else if constexpr (std::is_same_v<T, Cadence>)
    return "N|block";
  else if constexpr (std::is_same_v<T, std::string>)
    return "TEXT";
  else if constexpr (std::is_same_v<T, SchemePtr>)
    return "NAME";
  else
    return std::floating_point<T> ? "X" : std::is_same_v<T, std::vector<int>> ? "N,N,..." : "N";
}

template <class T>
T parse_number(std::string_view field, std::string_view text, const std::string& allowed) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size();
  if constexpr (std::floating_point<T>) good = good && !std::isnan(value);
  if (!good) bad_value(field, text, allowed);
  return value;
}

// Numbers separated by commas, at least one.
template <class T>
std::vector<T> parse_numbers(std::string_view field, std::string_view text, const std::string& allowed) {
  std::vector<T> all;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    all.push_back(parse_number<T>(field, text.substr(start, comma - start), allowed));
    start = comma + 1;
  }
  return all;
}

template <class T>
T parse_value(std::string_view field, std::string_view text) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::string value(text);
    if (value != valid_utf8(value)) bad_value(field, valid_utf8(value), "UTF-8");
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    for (const Named<T>& named : kNames<T>)
      if (named.name == text) return named.value;
    bad_value(field, text, joined_names<T>(", "));
  } else if constexpr (std::is_same_v<T, SchemePtr>) {
    if (SchemePtr scheme = find_scheme(text)) return scheme;
    std::string all;
    for (std::string_view name : scheme_names()) all.append(all.empty() ? "" : ", ").append(name);
    bad_value(field, text, all);
  } else if constexpr (std::is_same_v<T, EssFloor>) {
    const char* allowed = "a share of the particles from 0 to 1, always, never";
    if (text == "always") return {};
    const double share = text == "never" ? 0 : parse_number<double>(field, text, allowed);
    if (share < 0 || share > 1) bad_value(field, text, allowed);
    return {share};
  } else if constexpr (std::is_same_v<T, Cadence>) {
    const char* allowed = "a number of steps from 1 on, block";
    const int every = text == "block" ? 0 : parse_number<int>(field, text, allowed);
    if (text != "block" && every < 1) bad_value(field, text, allowed);
    return {every};
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    return parse_numbers<int>(field, text, "integers separated by commas, such as 1,4,16");
  } else {
    return parse_number<T>(field, text, std::floating_point<T> ? "a number" : "an integer");
  }
}

}  // namespace pgdlm
