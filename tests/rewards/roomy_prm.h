// The tiny process reward of tests/data/hf holds 96 tokens, which the template alone fills. Positions are not weights:
// this one is the same network with room for a conversation.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "models/fixture.h"

namespace pgdlm {

inline std::filesystem::path roomy_prm() {
  static const std::filesystem::path path = [] {
    namespace fs = std::filesystem;
    const fs::path folder = scratch() / "roomy-prm", file = scratch() / "roomy-prm.gguf";
    fs::copy(fs::path(PGDLM_SOURCE_DIR) / "tests/data/hf/qwen2-prm", folder);
    nlohmann::json config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
    config["max_position_embeddings"] = 512;
    config["step_separator"] = ";";
    config["step_join"] = "min";
    std::ofstream(folder / "config.json") << config;
    convert(folder, file, {.type = GGML_TYPE_F32});
    return file;
  }();
  return path;
}

}  // namespace pgdlm
