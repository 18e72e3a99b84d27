#include "convert/convert.h"

#include <algorithm>

#include "convert/families.h"
#include "convert/stream.h"
#include "convert/weight_type.h"
#include "gguf/mapped_file.h"
#include "gguf/writer.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

namespace fs = std::filesystem;

JsonFile read_config(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(ErrorCode::invalid_request, "folder '" + folder.string() + "' is not there or not a folder",
                "give the folder of a model as downloaded from Hugging Face");
  if (!fs::exists(folder / "config.json"))
    throw Error(ErrorCode::invalid_request, "folder '" + folder.string() + "' has no config.json",
                "give the folder of a model as downloaded from Hugging Face");
  return JsonFile(folder / "config.json");
}

// How to run a denoiser, for models trained for this program: config.json's own object `diffusion`.
void set_diffusion_keys(const JsonFile& config, Plan& plan) {
  const auto given = config.json().find("diffusion");
  if (given == config.json().end() || given->is_null()) return;
  if (!given->is_object()) config.fail("diffusion: expected an object");
  for (const auto& [name, value] : given->items()) {
    const auto require = [&, &field = name, &got = value](bool good, const char* expected) {
      if (!good) config.fail("diffusion." + field + ": expected " + expected + ", got " + got.dump());
    };
    const std::string key = "diffusion." + name;
    if (name == "process") {
      const bool known = value == "mdlm" || value == "remdm" || value == "llada" || value == "dream";
      require(known, "mdlm, remdm, llada or dream");
      plan.set(key, value.get<std::string>());
    } else if (name == "shift_logits") {
      require(value.is_boolean(), "true or false");
      plan.set(key, value.get<bool>());
    } else if (name == "steps" || name == "block_length") {
      const bool sound = value.is_number_unsigned() && value > 0u && value <= 1u << 30;
      require(sound, "an integer from 1 on");
      plan.set(key, value.get<std::int64_t>());
    } else if (name == "temperature") {
      plan.set(key, config.real(key, value, JsonFile::Least::zero));
    } else if (name == "top_p") {
      require(value.is_number() && value > 0.0 && value <= 1.0, "a number above 0, at most 1");
      plan.set(key, value.get<double>());
    } else if (name == "time_conditioning") {
      if (value != false)
        throw Error(ErrorCode::unsupported,
                    config.path() + ": diffusion.time_conditioning is " + value.dump() + ", supported: false");
    } else {
      config.fail("diffusion has the field '" + name +
                  "', allowed: process, shift_logits, steps, block_length, temperature, top_p, time_conditioning");
    }
  }
}

// A slip of the pen must not cost somebody a file, such as the very weights that are read.
void check_target(const fs::path& target) {
  std::error_code ignored;
  if (!fs::is_regular_file(target, ignored) || fs::file_size(target, ignored) == 0) return;
  const MappedFile there(target);
  const std::string_view start(reinterpret_cast<const char*>(there.bytes().data()),
                               std::min<std::size_t>(there.bytes().size(), 4));
  if (start != "GGUF")
    throw Error(ErrorCode::invalid_request,
                "file '" + target.string() + "' is there and is not a GGUF file, so it is not overwritten",
                "give another name for the new file, or remove this one first");
}

// The folder's own name, which a user chose; config.json's may be that of the model it was fine-tuned from. Only the
// Hugging Face cache names folders by a hash.
std::string model_name(const fs::path& folder, const JsonFile& config) {
  const std::string own = fs::weakly_canonical(folder).filename().string();
  const bool hash = own.size() == 40 && own.find_first_not_of("0123456789abcdef") == std::string::npos;
  const std::string given = fs::path(config.get_or<std::string>({"_name_or_path"}, "")).filename().string();
  return (own.empty() || hash) && !given.empty() && given != "." ? given : own;
}

// Where the tokenizer's files are.
fs::path tokenizer_folder(const fs::path& folder, const ConvertOptions& options) {
  if (options.tokenizer.empty()) return folder;
  std::error_code ignored;
  if (!fs::is_directory(options.tokenizer, ignored))
    throw Error(ErrorCode::invalid_request,
                "tokenizer: '" + options.tokenizer.string() + "' is not there or not a folder",
                "give the folder that tokenizer.json, or vocab.json and merges.txt, or vocab.txt is in");
  return options.tokenizer;
}

void set_general_keys(const fs::path& folder, const JsonFile& config, const std::string& architecture, ggml_type type,
                      Plan& plan) {
  plan.set("general.architecture", architecture);
  plan.set("general.name", model_name(folder, config));
  if (const auto number = file_type_number(type)) plan.set("general.file_type", *number);
  plan.set("general.quantization_version", std::int64_t{2});
}

ConvertReport declare_all(const Plan& plan, const ConvertOptions& options, GgufWriter& out) {
  ConvertReport report;
  for (const auto& [key, value] : plan.metadata()) out.set(key, value);
  for (const PlannedTensor& tensor : plan.tensors()) {
    const ggml_type type = stored_type(tensor, options.type);
    const Shape fastest_first(tensor.shape.rbegin(), tensor.shape.rend());
    out.declare(tensor.name, type, fastest_first);
    if (tensor.shape.size() == 2 && !tensor.full_precision && type != options.type)
      report.fallbacks.push_back(tensor.name + ": " + ggml_type_name(type));
    ++report.tensors;
  }
  return report;
}

ConvertReport convert_checked(const fs::path& folder, const fs::path& target, const ConvertOptions& options) {
  check_target(target);
  const JsonFile config = read_config(folder);
  const Family family = find_family(config);
  const Checkpoint checkpoint(folder);
  Plan plan(checkpoint, family.rename);
  set_general_keys(folder, config, family.architecture, options.type, plan);
  family.plan(config, plan);
  set_diffusion_keys(config, plan);
  const HfTokenizer tokenizer = read_tokenizer(tokenizer_folder(folder, options), config, family.tokenizer(config));
  set_tokenizer_keys(tokenizer, plan);
  if (family.finish != nullptr) family.finish(config, tokenizer, plan);
  plan.check_all_used();

  GgufWriter out(target);
  ConvertReport report = declare_all(plan, options, out);
  report.architecture = family.architecture;
  stream_tensors(plan, options, out);
  out.commit();
  report.bytes = out.bytes_written();
  return report;
}

}  // namespace

ConvertReport convert(const fs::path& folder, const fs::path& out, const ConvertOptions& options) {
  try {
    return convert_checked(folder, out, options);
  } catch (const nlohmann::json::exception& error) {  // a field of a kind nobody thought of
    throw Error(ErrorCode::bad_model, "folder '" + folder.string() + "': unexpected JSON: " + error.what());
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::invalid_request, error.what());
  }
}

}  // namespace pgdlm
