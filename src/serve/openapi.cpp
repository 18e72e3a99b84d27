#include "serve/openapi.h"

#include <nlohmann/json.hpp>

#include "serve/fields.h"

namespace pgdlm::serve {
namespace {

using nlohmann::ordered_json;

// "string|array" as JSON schema.
ordered_json type_schema(std::string_view types) {
  ordered_json any = ordered_json::array();
  while (!types.empty()) {
    const std::string_view one = types.substr(0, types.find('|'));
    types.remove_prefix(std::min(types.size(), one.size() + 1));
    ordered_json schema = {{"type", one}};
    if (one == "array") schema["items"] = ordered_json::object();
    any.push_back(std::move(schema));
  }
  return any.size() == 1 ? any.front() : ordered_json({{"anyOf", std::move(any)}});
}

ordered_json options_schema(const std::vector<OptionField>& fields) {
  ordered_json properties = ordered_json::object();
  for (const OptionField& field : fields) properties[field.name] = {{"description", field.help}};
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

ordered_json completion_schema(Endpoint endpoint) {
  ordered_json properties = ordered_json::object();
  for (const Field& field : completion_fields()) {
    if (field.endpoint != Endpoint::both && field.endpoint != endpoint) continue;
    ordered_json schema = type_schema(field.type);
    if (std::string_view(field.name) == "its") {
      schema = options_schema(its_fields());
      schema["properties"]["strict"] = {{"type", "boolean"}, {"description", "a reward that fails is an error"}};
    }
    if (std::string_view(field.name) == "diffusion") schema = options_schema(diffusion_fields());
    schema["description"] = field.help;
    properties[field.name] = std::move(schema);
  }
  ordered_json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (endpoint == Endpoint::chat) schema["required"] = {"messages"};
  return schema;
}

ordered_json object_schema(std::initializer_list<std::pair<const char*, const char*>> fields) {
  ordered_json properties = ordered_json::object();
  for (const auto& [name, type] : fields) properties[name] = type_schema(type);
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

ordered_json responses() {
  const ordered_json error = {
      {"description", "OpenAI's error object"},
      {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
  return {{"200", {{"description", "the reply"}}},
          {"400", error},
          {"401", error},
          {"404", error},
          {"413", error},
          {"429", error}};
}

ordered_json post(const char* summary, ordered_json schema) {
  return {{"post",
           {{"summary", summary},
            {"requestBody", {{"required", true}, {"content", {{"application/json", {{"schema", std::move(schema)}}}}}}},
            {"responses", responses()}}}};
}

ordered_json get(const char* summary, std::initializer_list<const char*> parameters = {}) {
  ordered_json list = ordered_json::array();
  for (const char* name : parameters)
    list.push_back({{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  ordered_json operation = {{"summary", summary}, {"responses", responses()}};
  if (!list.empty()) operation["parameters"] = std::move(list);
  return {{"get", std::move(operation)}};
}

}  // namespace

std::string openapi() {
  ordered_json events = get("the events of a run, from the one after `after` on", {"id"});
  events["get"]["parameters"].push_back({{"name", "after"}, {"in", "query"}, {"schema", {{"type", "integer"}}}});
  const ordered_json rerank =
      post("texts by their reward, the best first", object_schema({{"model", "string"},
                                                                   {"reward", "string"},
                                                                   {"query", "string"},
                                                                   {"documents", "array"},
                                                                   {"texts", "array"},
                                                                   {"top_n", "integer"},
                                                                   {"return_documents", "boolean"}}));
  const ordered_json document = {
      {"openapi", "3.1.0"},
      {"info", {{"title", "pgdlm"}, {"version", PGDLM_VERSION}, {"description", "diffusion language models, steered"}}},
      {"paths",
       {{"/v1/completions", post("continue or fill texts", completion_schema(Endpoint::completions))},
        {"/v1/chat/completions", post("answer a conversation", completion_schema(Endpoint::chat))},
        {"/v1/chat/completions/control",
         post("finish a run with the best it has", object_schema({{"id", "string"}, {"action", "string"}}))},
        {"/v1/models", get("the models that are served")},
        {"/v1/models/{id}", get("one of them", {"id"})},
        {"/v1/score", post("rewards of texts", object_schema({{"reward", "string"},
                                                              {"model", "string"},
                                                              {"prompt", "string"},
                                                              {"texts", "string|array"},
                                                              {"text_1", "string"},
                                                              {"text_2", "string|array"}}))},
        {"/v1/rerank", rerank},
        {"/rerank", rerank},
        {"/reranking", rerank},
        {"/tokenize", post("a text as tokens", object_schema({{"model", "string"},
                                                              {"content", "string"},
                                                              {"add_special", "boolean"},
                                                              {"with_pieces", "boolean"}}))},
        {"/detokenize", post("tokens as a text", object_schema({{"model", "string"}, {"tokens", "array"}}))},
        {"/runs", get("what runs, and what is stored")},
        {"/runs/{id}/events", std::move(events)},
        {"/runs/traces/{name}", get("a saved trace", {"name"})},
        {"/runs/report", get("the report of the studies, an HTML page")},
        {"/health", get("is it ready?")},
        {"/props", get("models, rewards, methods, defaults and limits")},
        {"/metrics", get("counters for Prometheus")},
        {"/openapi.json", get("this document")}}},
      {"components",
       {{"schemas",
         {{"Error",
           {{"type", "object"},
            {"properties",
             {{"error",
               object_schema(
                   {{"message", "string"}, {"type", "string"}, {"param", "string"}, {"code", "string"}})}}}}}}},
        {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
  return document.dump(2);
}

}  // namespace pgdlm::serve
