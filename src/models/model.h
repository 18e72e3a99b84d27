// A loaded GGUF file: its network, what the network is for, and what the file says about using it. Weights are loaded
// once; whoever shares the Model shares them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/device.h"
#include "models/runtime.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

enum class Role { denoiser, classifier, process_reward, trunk };
const char* role_name(Role role);

struct ModelOptions {
  DeviceOptions device;
  int max_tokens = 4096;                    // per forward: bounds the memory of activations
  std::optional<std::size_t> packed_bytes;  // for weights as our kernels read them; absent: a share of the memory
  std::optional<Token> mask;                // instead of the file's mask token
};

// How the file wants to be denoised; what is empty is left to the process.
struct DiffusionHints {
  Token mask = -1;
  bool shift_logits = false;  // row l-1 speaks of position l
  std::string process;        // mdlm, remdm, llada, dream
  std::optional<int> steps, block_length;
  std::optional<double> temperature, top_p;
};

class Model {
 public:
  // Error{bad_model} names the file, the key or tensor, what was expected and what was found.
  static std::shared_ptr<Model> load(const std::filesystem::path& path, const ModelOptions& options = {});

  const std::shared_ptr<const Gguf>& file() const { return file_; }
  const std::string& architecture() const { return architecture_; }
  Role role() const { return role_; }
  void require(Role role) const;  // Error{invalid_request} if it is another
  const NetworkSizes& sizes() const { return runtime_->sizes(); }
  const DiffusionHints& diffusion() const { return diffusion_; }         // of a denoiser
  const std::vector<std::string>& labels() const { return labels_; }     // of a classifier, one per output
  Token step_token() const { return step_token_; }                       // of a process reward
  const std::string& step_separator() const { return step_separator_; }  // what stands between two steps
  const std::string& step_join() const { return step_join_; }  // how its steps make one score, if nobody says otherwise
  Runtime& runtime() { return *runtime_; }

 private:
  Model() = default;
  void read_role(const ModelOptions& options);

  std::shared_ptr<const Gguf> file_;
  std::string architecture_;
  Role role_ = Role::trunk;
  DiffusionHints diffusion_;
  std::vector<std::string> labels_;
  Token step_token_ = -1;
  std::string step_separator_, step_join_;
  std::unique_ptr<Runtime> runtime_;
};

// The network as a Denoiser. Several can be made of one model: they share its weights, each has logits of its own.
// Error{invalid_request} if the model is none.
std::shared_ptr<Denoiser> make_denoiser(std::shared_ptr<Model> model);

// Logits of a classifier, one row per text.
std::vector<std::vector<float>> classify(Model& model, std::span<const std::vector<Token>> texts);

// Probability that each step is good, at every step token of each row.
std::vector<std::vector<double>> step_probabilities(Model& model, std::span<const std::vector<Token>> rows);

// What the network itself says of each row, for looking at a conversion: a denoiser's logits [length, vocab], before
// any rule or shift; a classifier's [1, labels]; a process reward's probabilities [steps, 1]; a trunk's states.
struct RawOutput {
  int rows = 0, columns = 0;
  std::vector<float> values;
};
std::vector<RawOutput> raw_outputs(Model& model, std::span<const std::vector<Token>> rows);

}  // namespace pgdlm
