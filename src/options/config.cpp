#include "options/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "smc/schemes.h"

namespace pgdlm {
namespace {

using nlohmann::json;

std::string key_of(const OptionInfo& info) {
  std::string key = info.name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// Numbers, booleans and texts are themselves, everything else is written as on the command line.
template <class T>
json to_value(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return name_of(value);
  else if constexpr (std::is_same_v<T, SchemePtr>)
    return std::string(value->name);
  else if constexpr (std::is_same_v<T, EssFloor>)
    return value.share ? json(*value.share) : json("always");
  else if constexpr (std::is_same_v<T, Cadence>)
    return value.blocks() ? json("block") : json(value.every);
  else
    return value;
}

struct Writer {
  json& object;

  void group(const char*) {}
  template <class T>
  void operator()(const OptionInfo& info, const T& field) {
    object[key_of(info)] = to_value(field);
  }
  template <class T>
  void operator()(const OptionInfo& info, const std::optional<T>& field) {
    if (field) (*this)(info, *field);
  }
};

template <class T>
T from_value(const std::string& key, const json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) bad_value(key, value.dump(), "true, false");
    return value.get<bool>();
  } else {
    return parse_value<T>(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

struct Reader {
  const json& object;
  std::set<std::string> known = {"version"};

  void group(const char*) {}
  template <class T>
  void operator()(const OptionInfo& info, T& field) {
    const std::string key = key_of(info);
    known.insert(key);
    if (object.contains(key)) field = from_value<T>(key, object[key]);
  }
  template <class T>
  void operator()(const OptionInfo& info, std::optional<T>& field) {
    T value{};
    (*this)(info, value);
    if (object.contains(key_of(info))) field = value;
  }
};

}  // namespace

std::string to_config(const GenerateOptions& options) {
  json object = {{"version", PGDLM_VERSION}};
  visit_options(options, Writer{object});
  return object.dump();
}

GenerateOptions from_config(const std::string& config, const std::string& source) {
  const json object = json::parse(config, nullptr, false);
  if (!object.is_object()) throw Error(ErrorCode::invalid_request, source + ": its configuration is no JSON object");
  GenerateOptions options;
  Reader reader{object};
  try {
    visit_options(options, reader);
  } catch (const Error& e) {
    throw Error(e.code(), source + ": " + e.what(), e.hint());
  }
  for (const auto& [key, value] : object.items())
    if (!reader.known.contains(key))
      throw Error(ErrorCode::invalid_request, source + ": unknown option '" + key + "' in its configuration",
                  "options are those of pgdlm generate, with underscores (this is version " PGDLM_VERSION ")");
  return options;
}

}  // namespace pgdlm
