#include "events/json.h"

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using Json = nlohmann::ordered_json;

// In the order of the variant.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kTypes = {
    "run_started", "weighed", "resampled", "edited", "drafted", "selected", "spent", "run_finished"};

// JSON text that travels as an object, not as a string.
template <class String>
struct Embedded {
  String& text;
};

// The fields of each event, named once for both directions: `f` writes or reads them. `E` is const when writing.
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, RunStarted>
void fields(F& f, E& e) {
  f("seed", e.seed);
  f("config", Embedded<std::remove_reference_t<decltype((e.config))>>{e.config});
  f("canvas", e.canvas);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Weighed>
void fields(F& f, E& e) {
  f("sweep", e.sweep);
  f("step", e.step);
  f("values", e.values);
  f("log_weights", e.log_weights);
  f("ess", e.ess);
  f("log_z", e.log_z);
  f("reference", e.reference);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Resampled>
void fields(F& f, E& e) {
  f("sweep", e.sweep);
  f("step", e.step);
  f("parents", e.parents);
  f("reference", e.reference);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Edited>
void fields(F& f, E& e) {
  f("sweep", e.sweep);
  f("step", e.step);
  f("slot", e.slot);
  f("edits", e.edits);
  f("fresh", e.fresh);
  f("value", e.value);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Drafted>
void fields(F& f, E& e) {
  f("sweep", e.sweep);
  f("step", e.step);
  f("slot", e.slot);
  f("canvas", e.canvas);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Selected>
void fields(F& f, E& e) {
  f("sweep", e.sweep);
  f("slot", e.slot);
  f("reward", e.reward);
  f("reference", e.reference);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, Spent>
void fields(F& f, E& e) {
  f("forwards_asked", e.cost.forwards_asked);
  f("forwards_run", e.cost.forwards_run);
  f("tokens_run", e.cost.tokens_run);
  f("rewards_asked", e.cost.rewards_asked);
  f("rewards_run", e.cost.rewards_run);
  f("seconds", e.cost.seconds);
}
template <class F, class E>
  requires std::same_as<std::remove_const_t<E>, RunFinished>
void fields(F& f, E& e) {
  f("status", e.status);
  f("reward", e.reward);
}

class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}

  template <class T>
  void operator()(const char* name, const T& value) {
    json_[name] = encode(value);
  }

 private:
  template <class T>
    requires std::integral<T> || std::same_as<T, std::string>
  static Json encode(const T& value) {
    return value;
  }
  static Json encode(double value) {  // JSON has no number for these three
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }
  static Json encode(Embedded<const std::string> config) {
    if (config.text.empty()) return Json::object();
    Json object = Json::parse(config.text, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      throw Error(ErrorCode::invalid_request,
                  "config: the text of a JSON object is allowed, not '" + config.text + "'");
    }
    return object;
  }
  // [step, position, token], and the note where there is one: traces are mostly edits.
  static Json encode(const TimedEdit& timed) {
    Json array = {timed.step, timed.edit.position, timed.edit.token};
    if (timed.edit.note != 0 || std::signbit(timed.edit.note)) array.push_back(encode(double{timed.edit.note}));
    return array;
  }
  template <class T>
  static Json encode(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(encode(value));
    return array;
  }

  Json& json_;
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <class T>
  void operator()(const char* name, T&& value) {
    field_ = name;
    const auto found = json_.find(name);
    if (found == json_.end())
      throw Error(ErrorCode::invalid_request, "expected the field '" + field_ + "', found none");
    decode(*found, value);
  }

 private:
  [[noreturn]] void refuse(const Json& found, const std::string& expected) const {
    throw Error(ErrorCode::invalid_request, field_ + ": expected " + expected + ", found " + found.dump());
  }

  template <std::integral T>
  void decode(const Json& json, T& value) const {
    const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<std::uint64_t>())
                      : json.is_number_integer() ? std::in_range<T>(json.get<std::int64_t>())
                                                 : false;
    if (!fits) {
      refuse(json, "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                       std::to_string(std::numeric_limits<T>::max()));
    }
    value = json.get<T>();
  }
  void decode(const Json& json, bool& value) const {
    if (!json.is_boolean()) refuse(json, "true or false");
    value = json.get<bool>();
  }
  void decode(const Json& json, double& value) const {
    if (json == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (json == "inf" || json == "-inf") {
      value = json == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    } else if (json.is_number()) {
      value = json.get<double>();
    } else {
      refuse(json, "a number, \"inf\", \"-inf\" or \"nan\"");
    }
  }
  void decode(const Json& json, std::string& value) const {
    if (!json.is_string()) refuse(json, "a string");
    value = json.get<std::string>();
  }
  void decode(const Json& json, Embedded<std::string>& config) const {
    if (!json.is_object()) refuse(json, "an object");
    config.text = json.dump();
  }
  void decode(const Json& json, TimedEdit& timed) const {
    if (!json.is_array() || json.size() < 3 || json.size() > 4) refuse(json, "[step, position, token] or with a note");
    decode(json[0], timed.step);
    decode(json[1], timed.edit.position);
    decode(json[2], timed.edit.token);
    double note = 0;
    if (json.size() == 4) decode(json[3], note);
    timed.edit.note = static_cast<float>(note);
  }
  template <class T>
  void decode(const Json& json, std::vector<T>& values) const {
    if (!json.is_array()) refuse(json, "an array");
    values.resize(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) decode(json[i], values[i]);
  }

  const Json& json_;
  std::string field_;
};

// An empty event of the type with this index.
template <std::size_t I = 0>
Event blank_event(std::size_t index) {
  if constexpr (I + 1 < std::variant_size_v<Event>) {
    if (index != I) return blank_event<I + 1>(index);
  }
  return Event(std::in_place_index<I>);
}

}  // namespace

std::string to_json_line(const Event& event, std::int64_t seq) {
  Json json = {{"seq", seq}, {"type", kTypes[event.index()]}};
  Writer writer(json);
  std::visit([&](const auto& e) { fields(writer, e); }, event);
  return json.dump();
}

NumberedEvent from_json_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    constexpr std::size_t kShown = 60;
    const std::string found(line.substr(0, kShown));
    throw Error(ErrorCode::invalid_request, "expected a JSON object, found '" + found + "'");
  }
  Reader reader(json);
  NumberedEvent numbered;
  std::string type;
  reader("seq", numbered.seq);
  reader("type", type);
  std::size_t index = 0;
  while (index < kTypes.size() && kTypes[index] != type) ++index;
  if (index == kTypes.size()) {
    std::string allowed;
    for (const std::string_view name : kTypes) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    throw Error(ErrorCode::invalid_request, "type: expected one of " + allowed + ", found '" + type + "'");
  }
  numbered.event = blank_event(index);
  std::visit([&](auto& e) { fields(reader, e); }, numbered.event);
  return numbered;
}

}  // namespace pgdlm
