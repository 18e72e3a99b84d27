// Stored work as a service: the traces of a folder, the studies of a store, and their report.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/models.h"

namespace pgdlm::serve {

struct Archive {
  std::filesystem::path traces;  // may be empty; those of the source tree are there too
  std::filesystem::path store;   // need not exist
};

nlohmann::ordered_json traces_in(const Archive& archive);   // [{name, bytes}]
nlohmann::ordered_json studies_in(const Archive& archive);  // [{id, name, done, items, begun, what}]
// {name, pieces, mask, events}. ApiError{404} if there is none of this name.
std::string trace_json(const std::string& name, const Archive& archive, Models& models);
std::string report_page(const Archive& archive);  // HTML; ApiError{404} if there is nothing to report

}  // namespace pgdlm::serve
