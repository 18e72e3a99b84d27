// libllama as a judge: what it makes of a GGUF file that we run as well. Only for tests.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pgdlm/plugin.h"

struct llama_context;
struct llama_model;

namespace pgdlm::parity {

enum class Ask {
  vocabulary,  // tokenising only
  logits,      // [length, vocab]
  hidden,      // [length, embedding], after the last norm
  labels,      // [labels]
};

class Judge {
 public:
  // Throws std::runtime_error if libllama does not take the file.
  Judge(const std::filesystem::path& file, Ask ask);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // One row of tokens by itself.
  std::vector<float> run(std::span<const Token> tokens);
  std::vector<Token> tokenize(const std::string& text, bool add_special, bool parse_special) const;

 private:
  llama_model* model_ = nullptr;
  llama_context* context_ = nullptr;
  Ask ask_;
};

}  // namespace pgdlm::parity
