// The tiny models of tests/data/hf, converted once per test program, and rows of tokens to try them on.
#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "kit/scratch.h"
#include "models/model.h"

namespace pgdlm {

inline const Scratch& scratch() {
  static const Scratch folder("models");
  return folder;
}

inline std::filesystem::path tiny(const std::string& family, ggml_type type = GGML_TYPE_F32) {
  static std::map<std::string, std::filesystem::path> made;
  std::filesystem::path& path = made[family + ggml_type_name(type)];
  if (path.empty()) {
    path = scratch() / (family + "-" + ggml_type_name(type) + ".gguf");
    convert(std::filesystem::path(PGDLM_SOURCE_DIR) / "tests/data/hf" / family, path, {.type = type});
  }
  return path;
}

inline std::vector<std::vector<Token>> random_rows(const Model& model, std::vector<int> lengths, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<Token> token(0, model.sizes().vocab - 1);
  std::vector<std::vector<Token>> rows;
  for (const int length : lengths) {
    rows.emplace_back();
    for (int l = 0; l < length; ++l) rows.back().push_back(token(engine));
  }
  return rows;
}

}  // namespace pgdlm
