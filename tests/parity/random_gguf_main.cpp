// random_gguf OUT.gguf [--layers N ...]: a random LLaDA, for measuring engines where no real model is at hand.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "parity/random_gguf.h"

int main(int argc, char** argv) try {
  pgdlm::parity::RandomModel model;
  // llama-diffusion-cli always applies a template: this one leaves the prompt as it is.
  model.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}";
  model.context = 1024;
  std::filesystem::path out;
  CLI::App app("A GGUF file with random weights, shaped like LLaDA");
  app.add_option("out", out)->required();
  app.add_option("--layers", model.layers);
  app.add_option("--embedding", model.embedding);
  app.add_option("--heads", model.heads);
  app.add_option("--feed-forward", model.feed_forward);
  app.add_option("--vocab", model.vocab);
  app.add_option("--seed", model.seed);
  const std::map<std::string, ggml_type> types = {
      {"f32", GGML_TYPE_F32}, {"f16", GGML_TYPE_F16}, {"bf16", GGML_TYPE_BF16}, {"q8_0", GGML_TYPE_Q8_0}};
  app.add_option("--type", model.type)->transform(CLI::CheckedTransformer(types));
  CLI11_PARSE(app, argc, argv);
  model.kv_heads = model.heads;
  pgdlm::parity::write_random_gguf(out, model);
} catch (const std::exception& e) {
  std::fprintf(stderr, "random_gguf: %s\n", e.what());
  return 1;
}
