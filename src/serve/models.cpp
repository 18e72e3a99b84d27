#include "serve/models.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "catalog/shelf.h"
#include "options/process.h"
#include "pgdlm/error.h"
#include "serve/api_error.h"
#include "text/vocabulary.h"

namespace pgdlm::serve {
namespace {

ModelCard card_of_toy() {
  const auto toy = make_toy_language_model();
  return {.name = "toy", .process = toy->defaults().process, .context = toy->max_length()};
}

ModelCard card_of(const std::string& name, const Model& model) {
  return {.name = name,
          .process = model.diffusion().process,
          .chat = detect_chat_format(read_vocabulary(*model.file())) != ChatFormat::none,
          .context = model.sizes().context};
}

// How clients call a model that was given as a path.
std::string short_name(const std::string& name) {
  return name.ends_with(".gguf") ? std::filesystem::path(name).stem().string() : name;
}

}  // namespace

ServedModel::ServedModel(std::string name, std::shared_ptr<const LanguageModel> language,
                         std::shared_ptr<Denoiser> denoiser, EngineOptions options)
    : name_(std::move(name)),
      language_(std::move(language)),
      engine_(std::move(denoiser), options),
      coordinator_([this](const std::stop_token& stop) { engine_.run(stop); }) {}

Models::Models(ModelsOptions options) : options_(std::move(options)) {
  const bool all = options_.names.empty();
  if (all) options_.names = {default_model()};
  for (const std::string& name : options_.names) survey(name);
  for (const std::filesystem::path& path : models_on_shelves()) {
    try {
      const std::shared_ptr<Model> model = Model::load(path, {.device = {.threads = 1}});
      const std::string name = path.stem().string();
      const bool known = std::ranges::any_of(cards_, [&](const ModelCard& card) { return card.name == name; });
      if (model->role() == Role::denoiser && all && !known) {
        options_.names.push_back(name);
        cards_.push_back(card_of(name, *model));
      }
      if (model->role() == Role::classifier) rewards_.push_back({name, model->labels()});
      if (model->role() == Role::process_reward) rewards_.push_back({name, {}});
    } catch (const Error&) {  // `pgdlm models` says what is wrong with it
      continue;
    }
  }
  if (all && options_.names.front() != "toy") {
    options_.names.emplace_back("toy");
    cards_.push_back(card_of_toy());
  }
}

void Models::survey(const std::string& name) {
  if (name == "toy") {
    cards_.push_back(card_of_toy());
    return;
  }
  ModelOptions options = options_.device;
  options.device = {.threads = 1};
  const std::shared_ptr<Model> model = Model::load(find_model(name), options);
  model->require(Role::denoiser);
  cards_.push_back(card_of(short_name(name), *model));
}

std::shared_ptr<ServedModel> Models::opened(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(name);
  return found == opened_.end() ? nullptr : found->second;
}

const ModelCard& Models::find(const std::string& name) const {
  const auto card = name.empty() ? cards_.begin() : std::ranges::find(cards_, name, &ModelCard::name);
  if (card != cards_.end()) return *card;
  std::string names;
  for (const ModelCard& known : cards_) names += (names.empty() ? "" : ", ") + known.name;
  throw ApiError(404, fmt::format("model '{}' is not served here, allowed: {}", name, names), "model",
                 "model_not_found");
}

std::shared_ptr<ServedModel> Models::open(const std::string& name) {
  const ModelCard& card = find(name);
  const std::lock_guard one_at_a_time(opening_);  // it may take long; who only looks does not wait
  if (std::shared_ptr<ServedModel> known = opened(card.name)) return known;
  const std::string& source = options_.names[static_cast<std::size_t>(&card - cards_.data())];
  const auto language = open_language_model(source, options_.device);
  const auto model =
      std::make_shared<ServedModel>(card.name, language, make_denoiser(options_.defaults, *language),
                                    EngineOptions{.threads = options_.threads, .max_batch = options_.max_batch});
  const std::lock_guard lock(mutex_);
  opened_[card.name] = model;
  return model;
}

std::vector<std::shared_ptr<ServedModel>> Models::opened() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ServedModel>> all;
  for (const auto& [name, model] : opened_) all.push_back(model);
  return all;
}

}  // namespace pgdlm::serve
