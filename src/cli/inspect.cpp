// Looking at a GGUF file: what it is, what its network says, how its tokeniser cuts.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/npy.h"
#include "cli/printable.h"
#include "models/model.h"
#include "text/chat.h"
#include "text/tokenizer.h"

namespace pgdlm::cli {
namespace {

std::string human_bytes(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

void print_tensors(const Gguf& file) {
  std::map<std::string, std::pair<int, std::size_t>> types;  // tensors, bytes
  double parameters = 0, bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    auto& [count, size] = types[ggml_type_name(tensor.type)];
    ++count;
    size += tensor.bytes.size();
    parameters += static_cast<double>(tensor.elements());
    bytes += static_cast<double>(tensor.bytes.size());
  }
  fmt::print("parameters     {:.1f} M in {} tensors, {}\n", parameters / 1e6, file.tensors().size(),
             human_bytes(bytes));
  for (const auto& [type, sum] : types)
    fmt::print("  {:<6}       {} tensors, {}\n", type, sum.first, human_bytes(static_cast<double>(sum.second)));
}

void print_role(const Model& model) {
  const DiffusionHints& d = model.diffusion();
  switch (model.role()) {
    case Role::denoiser:
      fmt::print("mask token     {}\nprocess        {}{}\n", d.mask, d.process,
                 d.shift_logits ? ", logits shifted by one" : "");
      if (d.steps) fmt::print("steps          {}\n", *d.steps);
      if (d.block_length) fmt::print("block length   {}\n", *d.block_length);
      if (d.temperature) fmt::print("temperature    {}\n", *d.temperature);
      if (d.top_p) fmt::print("top-p          {}\n", *d.top_p);
      break;
    case Role::classifier: fmt::print("labels         {}\n", fmt::join(model.labels(), ", ")); break;
    case Role::process_reward:
      fmt::print("step token     {}\nsteps end with {}\nsteps joined   {}\n", model.step_token(),
                 nlohmann::json(model.step_separator()).dump(), printable(model.step_join()));
      break;
    case Role::trunk: fmt::print("               no head: it can be looked at, not used\n"); break;
  }
}

const char* chat_name(ChatFormat format) {
  return format == ChatFormat::llada ? "LLaDA" : format == ChatFormat::chatml ? "ChatML" : "none";
}

}  // namespace

int models_info(const InfoOptions& options) {
  const std::filesystem::path path = find_model(options.file);
  const std::shared_ptr<Model> model = Model::load(path, options.model);
  const Gguf& file = *model->file();
  const NetworkSizes& s = model->sizes();
  fmt::print("file           {}\n", path.string());
  if (const auto name = file.get<std::string>("general.name")) fmt::print("name           {}\n", *name);
  fmt::print("architecture   {}, a {}\n", model->architecture(), role_name(model->role()));
  fmt::print("sizes          {} layers, {} wide, vocabulary {}, up to {} tokens\n", s.layers, s.embedding, s.vocab,
             s.context);
  print_role(*model);
  print_tensors(file);
  if (file.metadata().contains("tokenizer.ggml.model")) {
    const auto tokenizer = Tokenizer::make(read_vocabulary(file));
    const Vocabulary& v = tokenizer->vocabulary();
    fmt::print("tokeniser      {}{}, {} tokens, chat format {}\n", v.model == "bert" ? "WordPiece" : "byte-level BPE",
               v.pre.empty() ? "" : " (" + v.pre + ")", tokenizer->size(), chat_name(detect_chat_format(v)));
  } else {
    fmt::print("tokeniser      none in the file\n");
  }
  return 0;
}

int forward(const ForwardOptions& options) {
  std::vector<std::vector<Token>> rows;
  for (const std::string& ids : options.ids)
    rows.push_back(parse_numbers<Token>("ids", ids, "token ids separated by commas, such as 1,2,3"));
  const std::shared_ptr<Model> model = Model::load(find_model(options.file), options.model);
  const std::vector<RawOutput> outputs = raw_outputs(*model, rows);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string path = fmt::format("{}.{}.npy", options.out, i);
    write_npy(path, outputs[i].values, outputs[i].rows, outputs[i].columns);
    fmt::print("{}  [{}, {}]\n", path, outputs[i].rows, outputs[i].columns);
  }
  return 0;
}

int tokenize(const TokenizeOptions& options) {
  const auto tokenizer = Tokenizer::make(read_vocabulary(*Gguf::open(find_model(options.file))));
  const std::vector<Token> tokens =
      tokenizer->encode(options.text, {.add_special = options.special, .parse_special = options.special});
  if (options.ids) {
    fmt::print("{}\n", fmt::join(tokens, ","));
    return 0;
  }
  for (const Token token : tokens) fmt::print("{:>7}  {}\n", token, tokenizer->display(token));
  return 0;
}

int devices() {
  for (const std::string& name : device_names()) fmt::print("{}\n", name);
  return 0;
}

}  // namespace pgdlm::cli
