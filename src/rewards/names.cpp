#include "rewards/names.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

template <class T, std::size_t N>
T choose(const std::string& what, const std::string& word, const std::array<std::pair<const char*, T>, N>& known) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (word == name) return value;
    names.emplace_back(name);
  }
  throw Error(ErrorCode::invalid_request,
              fmt::format("reward: {} is '{}', allowed: {}", what, word, fmt::join(names, ", ")));
}

}  // namespace

Scale parse_scale(const std::string& word) {
  return choose<Scale, 3>("the scale after @", word, {{{"log", Scale::log}, {"p", Scale::p}, {"logit", Scale::logit}}});
}

Aggregation parse_aggregation(const std::string& word) {
  return choose<Aggregation, 5>("what joins the steps", word,
                                {{{"last", Aggregation::last},
                                  {"min", Aggregation::min},
                                  {"prod", Aggregation::prod},
                                  {"mean", Aggregation::mean},
                                  {"model", Aggregation::model}}});
}

}  // namespace pgdlm
