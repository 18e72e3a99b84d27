#include "rewards/http_reward.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pgdlm/error.h"
#include "rewards/http_client.h"
#include "rewards/names.h"
#include "rewards/scale.h"
#include "rewards/wire.h"
#include "text/prm.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

using nlohmann::json;

constexpr std::size_t kBatch = 32;  // texts per question: what text-embeddings-inference accepts from a client

class HttpReward : public TextReward {
 public:
  HttpReward(std::string url, std::chrono::milliseconds patience) : url_(std::move(url)), client_(patience) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<Scored> scores;
    try {
      for (; !texts.empty(); texts = texts.subspan(std::min(kBatch, texts.size()))) {
        const std::vector<Scored> found = ask(texts.first(std::min(kBatch, texts.size())));
        scores.insert(scores.end(), found.begin(), found.end());
      }
    } catch (const WrongAnswer& wrong) {
      throw Error(ErrorCode::invalid_request, fmt::format("reward: {} {}", url_, wrong.what),
                  "docs/rewards.md says what a server is asked and should answer");
    }
    return scores;
  }

 protected:
  virtual std::vector<Scored> ask(std::span<const Passage> texts) = 0;

  [[noreturn]] static void fail(const std::string& what) { throw WrongAnswer{what}; }
  [[noreturn]] static void unexpected(const json& answer, const std::string& expected) {
    fail(fmt::format("answered '{}', expected {}", beginning(answer.dump()), expected));
  }
  static double probability(double p) {
    if (!(p >= 0 && p <= 1 + 1e-6)) fail(fmt::format("gave the probability {}", p));
    return std::min(p, 1.0);
  }

  json post(const json& question) { return parse_answer(client_.post_json(url_, question.dump())); }

  // What an OpenAI-like server calls its (first) model.
  const std::string& model() {
    if (!model_.empty()) return model_;
    const std::size_t path = url_.find('/', url_.find("://") + 3);
    const json answer = parse_answer(client_.get(url_.substr(0, path) + "/v1/models"));
    const json::json_pointer id("/data/0/id");
    if (!answer.contains(id) || !answer[id].is_string()) unexpected(answer, "a list of models at /v1/models");
    model_ = answer[id].get<std::string>();
    return model_;
  }

  // The objects under "data", one for each text, in the order of their "index".
  static std::vector<json> items(const json& answer, std::size_t count) {
    const auto data = answer.is_object() ? answer.find("data") : answer.end();
    if (data == answer.end() || !data->is_array() || data->size() != count)
      unexpected(answer, fmt::format("\"data\" with {} results", count));
    std::vector<json> out(count);
    for (const json& item : *data) {
      const auto index = item.is_object() ? item.find("index") : item.end();
      if (index == item.end() || !index->is_number_unsigned() || index->get<std::size_t>() >= count)
        unexpected(item, fmt::format("an \"index\" from 0 to {}", count - 1));
      out[index->get<std::size_t>()] = item;
    }
    return out;
  }

 private:
  std::string url_, model_;
  HttpClient client_;
};

json whole_texts(std::span<const Passage> texts) {
  json list = json::array();
  for (const Passage& text : texts) list.push_back(valid_utf8(text.text));
  return list;
}

class OwnForm final : public HttpReward {
  using HttpReward::HttpReward;
  std::vector<Scored> ask(std::span<const Passage> texts) override {
    return read_scores(post({{"texts", texts_to_json(texts)}}), texts.size());
  }
};

// A classifier elsewhere: probabilities, of which one is wanted.
class LabelForm : public HttpReward {
 public:
  LabelForm(std::string url, std::chrono::milliseconds patience, std::string label, Scale scale)
      : HttpReward(std::move(url), patience), label_(std::move(label)), scale_(scale) {}

 protected:
  Scored scored(double p) const { return {scaled(std::log(probability(p)), scale_), {}}; }
  const std::string& label() const { return label_; }

 private:
  std::string label_;
  Scale scale_;
};

class PredictForm final : public LabelForm {
  using LabelForm::LabelForm;

  std::vector<Scored> ask(std::span<const Passage> texts) override {
    json inputs = json::array();  // lists of one: two strings would be a pair
    for (const Passage& text : texts) inputs.push_back(json::array({valid_utf8(text.text)}));
    const json answer = post({{"inputs", std::move(inputs)}, {"truncate", true}});
    if (!answer.is_array() || answer.size() != texts.size())
      unexpected(answer, fmt::format("a list of {} lists", texts.size()));
    std::vector<Scored> scores;
    for (const json& labels : answer) scores.push_back(scored(find(labels)));
    return scores;
  }

  double find(const json& labels) const {
    if (!labels.is_array()) unexpected(labels, R"([{"label": "...", "score": 0.5}, ...])");
    std::vector<std::string> known;
    for (const json& item : labels) {
      if (!item.is_object() || !item.contains("label") || !item["label"].is_string() || !item.contains("score") ||
          !item["score"].is_number())
        unexpected(labels, R"([{"label": "...", "score": 0.5}, ...])");
      if (item["label"] == label()) return item["score"].get<double>();
      known.push_back(item["label"].get<std::string>());
    }
    if (label().empty() && known.size() == 1) return labels[0]["score"].get<double>();
    fail(fmt::format("has no label '{}'; choose with #LABEL: {}", label(), fmt::join(known, ", ")));
  }
};

class ClassifyForm final : public LabelForm {
  using LabelForm::LabelForm;

  std::vector<Scored> ask(std::span<const Passage> texts) override {
    const json answer = post({{"model", model()}, {"input", whole_texts(texts)}});
    std::vector<Scored> scores;
    for (const json& item : items(answer, texts.size())) scores.push_back(scored(find(item)));
    return scores;
  }

  // The server names the most probable class only: names are learnt as they come.
  double find(const json& item) {
    const auto probs = item.find("probs");
    if (probs == item.end() || !probs->is_array() || probs->empty() ||
        !std::ranges::all_of(*probs, [](const json& p) { return p.is_number(); }))
      unexpected(item, R"("probs": [number, ...])");
    const auto p = probs->get<std::vector<double>>();
    if (label().empty()) return p.back();
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(label().data(), label().data() + label().size(), number);
    if (error == std::errc() && end == label().data() + label().size()) {
      if (number >= p.size()) fail(fmt::format("has the classes 0 to {}, not {}", p.size() - 1, number));
      return p[number];
    }
    const auto likeliest = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
    if (const auto name = item.find("label"); name != item.end() && name->is_string())
      names_[likeliest] = name->get<std::string>();
    for (const auto& [known, name] : names_)
      if (name == label() && known < p.size()) return p[known];
    if (p.size() == 2 && names_.size() == 1) return p[1 - names_.begin()->first];
    fail(fmt::format("has not named a class '{}' yet, but {}; choose it by its number: #0 to #{}", label(),
                     fmt::join(std::views::values(names_), ", "), p.size() - 1));
  }

  std::map<std::size_t, std::string> names_;  // of classes
};

class PoolingForm final : public HttpReward {
  using HttpReward::HttpReward;

  std::vector<Scored> ask(std::span<const Passage> texts) override {
    const json answer = post({{"model", model()}, {"input", whole_texts(texts)}});
    std::vector<Scored> scores;
    for (const json& item : items(answer, texts.size())) {
      const json* value = item.contains("data") ? &item["data"] : nullptr;
      while (value != nullptr && value->is_array() && !value->empty()) value = &value->back();
      if (value == nullptr || !value->is_number()) unexpected(item, R"("data": numbers)");
      scores.push_back({value->get<double>(), {}});
    }
    return scores;
  }
};

class StepsForm final : public HttpReward {
 public:
  StepsForm(std::string url, std::chrono::milliseconds patience, Aggregation aggregation, Scale scale)
      : HttpReward(std::move(url), patience), aggregation_(aggregation), scale_(scale) {}
  bool accepts_prefixes() const override { return true; }

 private:
  std::vector<Scored> ask(std::span<const Passage> texts) override {
    std::vector<Scored> scores;
    for (const Passage& text : texts) scores.push_back(ask(text));
    return scores;
  }

  Scored ask(const Passage& text) {
    std::vector<std::string> steps = split_steps(text.reply);
    if (steps.empty()) return {scaled(-HUGE_VAL, scale_), {}};
    if (aggregation_ == Aggregation::model) steps = {text.reply};
    const std::string page = valid_utf8(prm_steps(steps));
    const json messages = {{{"role", "system"}, {"content", kPrmSystem}},
                           {{"role", "user"}, {"content", valid_utf8(text.prompt)}},
                           {{"role", "assistant"}, {"content", page}}};
    const json item = items(post({{"model", model()}, {"messages", messages}}), 1)[0];
    if (!item.contains("data") || !item["data"].is_array()) unexpected(item, R"("data": [[p, p], ...])");
    Scored scored;
    for (const json& row : item["data"]) {
      if (!row.is_array() || row.empty() || !row.back().is_number()) unexpected(item, R"("data": [[p, p], ...])");
      scored.parts.push_back(probability(row.back().get<double>()));
    }
    if (scored.parts.size() != steps.size())
      fail(fmt::format("gave {} rows for {} steps; is it a process reward?", scored.parts.size(), steps.size()));
    scored.score = scaled(std::log(aggregate(scored.parts, aggregation_)), scale_);
    return scored;
  }

  Aggregation aggregation_;
  Scale scale_;
};

}  // namespace

std::unique_ptr<TextReward> make_http_reward(const std::string& url, std::chrono::milliseconds patience) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    throw Error(ErrorCode::invalid_request, fmt::format("reward: '{}' is not a URL", url), "write http://HOST/PATH");
  const std::size_t hash = url.find('#');
  const std::string where = url.substr(0, hash);
  std::string label = hash == std::string::npos ? "" : url.substr(hash + 1);
  std::optional<Scale> scale;
  if (const std::size_t at = label.rfind('@'); at != std::string::npos) {
    scale = parse_scale(label.substr(at + 1));
    label.resize(at);
  }
  const std::string path = where.substr(0, where.find('?'));
  if (path.ends_with("/predict"))
    return std::make_unique<PredictForm>(where, patience, label, scale.value_or(Scale::log));
  if (path.ends_with("/classify"))
    return std::make_unique<ClassifyForm>(where, patience, label, scale.value_or(Scale::log));
  if (path.ends_with("/pooling") && !label.empty())
    return std::make_unique<StepsForm>(where, patience, parse_aggregation(label), scale.value_or(Scale::p));
  if (hash != std::string::npos)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: {} has no labels to choose '{}' from", where, url.substr(hash)),
                "#LABEL is for servers whose path ends in /predict, /classify or /pooling");
  if (path.ends_with("/pooling")) return std::make_unique<PoolingForm>(where, patience);
  return std::make_unique<OwnForm>(where, patience);
}

}  // namespace pgdlm
