#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/printable.h"
#include "models/model.h"
#include "models/toy.h"

namespace pgdlm::cli {
namespace {

// One line; a file that is not sound says so in its place.
std::string describe(const std::filesystem::path& path) {
  try {
    const std::shared_ptr<Model> model = Model::load(path, {.device = {.threads = 1}});
    double parameters = 0;
    for (const GgufTensor& tensor : model->file()->tensors()) parameters += static_cast<double>(tensor.elements());
    std::string line =
        fmt::format("{}, a {}, {:.1f} M parameters", model->architecture(), role_name(model->role()), parameters / 1e6);
    if (model->role() == Role::classifier) line += fmt::format(", labels {}", fmt::join(model->labels(), ", "));
    return printable(std::move(line));
  } catch (const std::exception& e) {
    return printable(e.what());
  }
}

}  // namespace

int models() {
  const ToyModel toy;
  fmt::print(
      "toy   film reviews from a Markov chain over {} words. Its denoiser is exact, so revealing one word at a\n"
      "      time samples the chain itself. Needs no file; up to {} words.\n"
      "      rewards: {}\n"
      "      words:",
      toy.eos(), ToyModel::kMaxLength, fmt::join(ToyModel::reward_names(), ", "));
  std::size_t column = 12;
  for (Token word = 0; word < toy.eos(); ++word) {
    const std::string& text = toy.words()[word];
    if (column + 1 + text.size() > 100) {
      fmt::print("\n            ");
      column = 12;
    }
    fmt::print(" {}", text);
    column += 1 + text.size();
  }
  fmt::print("\n");
  for (const std::filesystem::path& path : models_on_shelves()) {
    const std::string name = path.stem().string();
    fmt::print("\n{}{}\n      {}\n      {}\n", printable(name), name == default_model() ? "   (the default)" : "",
               describe(path), printable(path.string()));
  }
  std::vector<std::string> judges;
  for (const std::filesystem::path& path : judges_on_shelves()) judges.push_back(printable(path.stem().string()));
  if (!judges.empty()) fmt::print("\njudges, for `pgdlm judge`: {}\n", fmt::join(judges, ", "));
  return 0;
}

}  // namespace pgdlm::cli
