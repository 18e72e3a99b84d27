// Turns a folder as published on Hugging Face (config.json, weights, tokenizer files) into one GGUF file that
// pgdlm and llama.cpp read (docs/gguf.md). No Python. Weights stream through in blocks of rows, so an 8B model needs
// little memory; the file appears under its name only when it is complete. Any thread, one conversion per call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <ggml.h>

namespace pgdlm {

struct ConvertProgress {
  std::uint64_t done = 0, total = 0;  // bytes of weights read
  std::string_view tensor;            // the one being written
};

struct ConvertOptions {
  ggml_type type = GGML_TYPE_F16;                        // of matrices; vectors and position tables are always f32
  std::filesystem::path tokenizer;                       // folder of its files; empty: the model's
  int threads = 0;                                       // that quantise; 0: one per processor
  std::function<void(const ConvertProgress&)> progress;  // called between blocks of rows, on the calling thread
  std::stop_token cancel;                                // looked at between blocks of rows
};

struct ConvertReport {
  std::string architecture;            // as in general.architecture
  std::size_t tensors = 0;             // written
  std::uint64_t bytes = 0;             // of the file
  std::vector<std::string> fallbacks;  // "name: type": rows too short or odd for the type asked for
};

// Error{invalid_request}: a file is missing or cannot be written. Error{bad_model}: a file contradicts itself or
// another. Error{unsupported}: a model pgdlm has no code for. Error{exhausted}: the disk is full. Error{cancelled}.
// Whatever is thrown, `out` is as it was before.
ConvertReport convert(const std::filesystem::path& folder, const std::filesystem::path& out,
                      const ConvertOptions& options);

// The type a name like "q8_0" stands for (in any case). Error{invalid_request} lists the names there are.
ggml_type parse_weight_type(std::string_view name);
// All names parse_weight_type takes.
std::vector<std::string> weight_type_names();

}  // namespace pgdlm
