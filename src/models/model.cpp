#include "models/model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

struct Architecture {
  const char* name;
  std::unique_ptr<Network> (*make)(Weights&);
  const char* process;  // its own backward process, if it is a denoiser
};

constexpr std::array kArchitectures = {
    Architecture{"mdlm", make_mdlm, "mdlm"},    Architecture{"llada", make_llada, "llada"},
    Architecture{"dream", make_dream, "dream"}, Architecture{"bert", make_bert, "mdlm"},
    Architecture{"qwen2", make_qwen2_prm, ""},
};

const Architecture& find_architecture(const Gguf& file) {
  const std::string name = file.require<std::string>("general.architecture");
  std::string all;
  for (const Architecture& known : kArchitectures) {
    if (name == known.name) return known;
    all += std::string(all.empty() ? "" : ", ") + known.name;
  }
  throw Error(ErrorCode::bad_model, file.path() + ": key general.architecture is '" + name + "', supported: " + all,
              "an autoregressive model cannot denoise; LLaDA, Dream, MDLM, BERT and RoBERTa can");
}

void require_causal(const Gguf& file, const std::string& architecture, bool expected) {
  const std::string key = architecture + ".attention.causal";
  if (file.get<bool>(key).value_or(expected) != expected)
    throw Error(ErrorCode::bad_model,
                file.path() + ": key " + key + " is " + (expected ? "false, expected true" : "true, expected false"));
}

std::optional<int> positive(const Gguf& file, const char* key) {
  const auto value = file.get<std::int64_t>(key);
  if (value && (*value < 1 || *value > 1 << 24))
    throw Error(ErrorCode::bad_model,
                file.path() + ": key " + key + " is " + std::to_string(*value) + ", allowed: 1 or more");
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

// Published LLaDA files may lack the key: then the token's name tells.
Token find_mask(const Gguf& file, int vocab, const ModelOptions& options) {
  const char* key = "tokenizer.ggml.mask_token_id";
  std::int64_t mask = options.mask ? *options.mask : file.get<std::int64_t>(key).value_or(-1);
  if (mask == -1) {
    const auto tokens =
        file.get<std::vector<std::string>>("tokenizer.ggml.tokens").value_or(std::vector<std::string>{});
    for (const char* name : {"<|mdm_mask|>", "<mask>", "[MASK]", "<|mask|>"})
      if (const auto found = std::ranges::find(tokens, name); found != tokens.end() && mask == -1)
        mask = found - tokens.begin();
  }
  if (mask == -1)
    throw Error(ErrorCode::bad_model, file.path() + ": key " + key + " is missing, and no token is named like a mask",
                "name it with --mask-token");
  if (mask < 0 || mask >= vocab)
    throw Error(ErrorCode::bad_model, file.path() + ": the mask token is " + std::to_string(mask) + ", allowed: 0 to " +
                                          std::to_string(vocab - 1));
  return static_cast<Token>(mask);
}

DiffusionHints read_hints(const Gguf& file, const Architecture& architecture, int vocab, const ModelOptions& options) {
  DiffusionHints hints;
  hints.mask = find_mask(file, vocab, options);
  const bool dream = std::string(architecture.name) == "dream";
  hints.shift_logits = file.get<bool>("diffusion.shift_logits").value_or(dream);
  hints.process = file.get<std::string>("diffusion.process").value_or(architecture.process);
  hints.steps = positive(file, "diffusion.steps");
  hints.block_length = positive(file, "diffusion.block_length");
  hints.temperature = file.get<double>("diffusion.temperature");
  hints.top_p = file.get<double>("diffusion.top_p");
  return hints;
}

std::vector<std::string> read_labels(const Gguf& file, int outputs) {
  const char* key = "bert.classifier.output_labels";
  auto labels = file.get<std::vector<std::string>>(key);
  if (!labels) {
    labels.emplace();
    for (int i = 0; i < outputs; ++i) labels->push_back("LABEL_" + std::to_string(i));
  }
  if (static_cast<int>(labels->size()) != outputs)
    throw Error(ErrorCode::bad_model, file.path() + ": key " + key + " has " + std::to_string(labels->size()) +
                                          " labels, but cls.output.weight has " + std::to_string(outputs) + " rows");
  return *labels;
}

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::denoiser: return "denoiser";
    case Role::classifier: return "classifier";
    case Role::process_reward: return "process reward";
    case Role::trunk: return "bare trunk";
  }
  return "?";
}

void Model::require(Role role) const {
  if (role_ == role) return;
  throw Error(ErrorCode::invalid_request,
              file_->path() + " is a " + role_name(role_) + ", expected a " + role_name(role),
              role == Role::denoiser ? "LLaDA, Dream, MDLM and fill-mask BERT or RoBERTa files can denoise" : "");
}

void Model::read_role(const ModelOptions& options) {
  const Architecture& architecture = find_architecture(*file_);
  const NetworkSizes& s = sizes();
  if (architecture_ == "qwen2") {
    role_ = Role::process_reward;
    const std::int64_t step = file_->require<std::int64_t>("reward.step_token_id");
    if (step < 0 || step >= s.vocab)
      throw Error(ErrorCode::bad_model, file_->path() + ": key reward.step_token_id is " + std::to_string(step) +
                                            ", allowed: 0 to " + std::to_string(s.vocab - 1));
    step_token_ = static_cast<Token>(step);
    step_separator_ = file_->get<std::string>("reward.step_separator").value_or("\n\n");
    if (step_separator_.empty())
      throw Error(ErrorCode::bad_model,
                  file_->path() + ": key reward.step_separator is empty, expected what ends a step");
    step_join_ = file_->get<std::string>("reward.step_join").value_or("last");
  } else if (architecture_ == "bert" && file_->find("cls.output.weight") != nullptr) {
    role_ = Role::classifier;
    labels_ = read_labels(*file_, s.outputs);
  } else if (s.outputs == s.vocab) {
    role_ = Role::denoiser;
    diffusion_ = read_hints(*file_, architecture, s.vocab, options);
  }
}

std::shared_ptr<Model> Model::load(const std::filesystem::path& path, const ModelOptions& options) {
  std::shared_ptr<Model> model(new Model);
  model->file_ = Gguf::open(path);
  const Architecture& architecture = find_architecture(*model->file_);
  model->architecture_ = architecture.name;
  require_causal(*model->file_, model->architecture_, model->architecture_ == "qwen2");

  const auto device = Device::open(options.device);
  const auto weights = std::make_shared<Weights>(model->file_, device);
  std::unique_ptr<const Network> network = architecture.make(*weights);
  weights->load();
  model->runtime_ = std::make_unique<Runtime>(std::move(network), weights, device,
                                              RuntimeOptions{options.max_tokens, options.packed_bytes});
  model->read_role(options);
  return model;
}

}  // namespace pgdlm
