// Files as others may write them: fused projections, vectors in f16, labels without names, things missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "gguf/writer.h"
#include "models/devices.h"
#include "models/fixture.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

struct Piece {
  std::string name;
  ggml_type type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};
using Edit = std::function<void(std::map<std::string, GgufValue, std::less<>>&, std::vector<Piece>&)>;

// A copy of a file with its keys and tensors changed.
std::filesystem::path edited(const std::filesystem::path& from, const std::string& name, const Edit& edit) {
  const auto file = Gguf::open(from);
  auto keys = file->metadata();
  std::vector<Piece> pieces;
  for (const GgufTensor& t : file->tensors())
    pieces.push_back(
        {t.name, t.type, {t.shape.begin(), t.shape.begin() + t.dimensions}, {t.bytes.begin(), t.bytes.end()}});
  edit(keys, pieces);
  const std::filesystem::path path = scratch() / name;
  GgufWriter writer(path);
  for (const auto& [key, value] : keys) writer.set(key, value);
  for (const Piece& p : pieces) writer.declare(p.name, p.type, p.shape);
  for (const Piece& p : pieces) writer.write(p.name, p.bytes);
  writer.commit();
  return path;
}

Piece& find(std::vector<Piece>& pieces, const std::string& name) {
  return *std::ranges::find(pieces, name, &Piece::name);
}

std::vector<float> logits(const std::filesystem::path& path, Where where = Where::cpu) {
  const auto model = load(path, where);
  return raw_outputs(*model, random_rows(*model, {9})).front().values;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    Model::load(path);
  } catch (const Error& e) {
    return e.what();
  }
  return "it was loaded";
}

// llama.cpp's converter can put q, k and v into one matrix.
TEST(Files, FusedProjectionsAreTheSameNetwork) {
  for (const std::string family : {"llada", "dream", "bert-fill-mask"}) {
    const auto fuse = [&](auto&, std::vector<Piece>& pieces) {
      for (const std::string suffix : {".weight", ".bias"})
        for (int i = 0; i < 8; ++i) {
          const std::string blk = "blk." + std::to_string(i) + ".";
          if (std::ranges::find(pieces, blk + "attn_q" + suffix, &Piece::name) == pieces.end()) continue;
          Piece& q = find(pieces, blk + "attn_q" + suffix);
          for (const char* other : {"attn_k", "attn_v"}) {
            const Piece& part = find(pieces, blk + other + suffix);
            q.bytes.insert(q.bytes.end(), part.bytes.begin(), part.bytes.end());
            q.shape.back() += part.shape.back();
          }
          q.name = blk + "attn_qkv" + suffix;
          std::erase_if(pieces, [&](const Piece& p) {
            return p.name == blk + "attn_k" + suffix || p.name == blk + "attn_v" + suffix;
          });
        }
    };
    const auto fused = edited(tiny(family), family + "-fused.gguf", fuse);
    for (const Where where : {Where::cpu, Where::rpc})
      EXPECT_EQ(logits(fused, where), logits(tiny(family), where)) << family << " " << where_name(where);
  }
}

TEST(Files, VectorsMayHaveAnyType) {
  const auto path = edited(tiny("llada"), "halves.gguf", [](auto&, std::vector<Piece>& pieces) {
    Piece& norm = find(pieces, "output_norm.weight");
    const auto* values = reinterpret_cast<const float*>(norm.bytes.data());
    std::vector<ggml_fp16_t> halves(norm.bytes.size() / sizeof(float));
    ggml_fp32_to_fp16_row(values, halves.data(), static_cast<std::int64_t>(halves.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(halves.data());
    norm.bytes.assign(bytes, bytes + halves.size() * sizeof(ggml_fp16_t));
    norm.type = GGML_TYPE_F16;
  });
  const auto expected = logits(tiny("llada"));
  for (const Where where : {Where::cpu, Where::rpc}) {
    const auto got = logits(path, where);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-2F);
  }
}

TEST(Files, LabelsAndMasksHaveFallbacks) {
  const auto unnamed = edited(tiny("roberta-classifier"), "unnamed.gguf",
                              [](auto& keys, auto&) { keys.erase("bert.classifier.output_labels"); });
  EXPECT_EQ(Model::load(unnamed)->labels().front(), "LABEL_0");
  const auto maskless =
      edited(tiny("llada"), "maskless.gguf", [](auto& keys, auto&) { keys.erase("tokenizer.ggml.mask_token_id"); });
  EXPECT_EQ(Model::load(maskless)->diffusion().mask, Model::load(tiny("llada"))->diffusion().mask);  // by its name
  EXPECT_EQ(Model::load(maskless, {.mask = 7})->diffusion().mask, 7);
}

TEST(Files, WhatDoesNotFitIsNamed) {
  const auto with = [](const char* family, const char* key, GgufValue value) {
    return refusal(edited(tiny(family), "odd.gguf", [&](auto& keys, auto&) { keys[key] = std::move(value); }));
  };
  const auto without = [](const char* family, const char* name) {
    return refusal(edited(tiny(family), "odd.gguf", [&](auto& keys, std::vector<Piece>& pieces) {
      keys.erase(name);
      std::erase_if(pieces, [&](const Piece& p) { return p.name == name; });
    }));
  };
  EXPECT_NE(with("llada", "general.architecture", std::string("llama")).find("'llama', supported: mdlm, llada"),
            std::string::npos);
  EXPECT_NE(with("llada", "llada.attention.head_count", std::int64_t{3}).find("attention.head_count"),
            std::string::npos);
  EXPECT_NE(with("llada", "llada.block_count", std::int64_t{7}).find("blk.2.attn_norm.weight is missing"),
            std::string::npos);
  EXPECT_NE(with("llada", "llada.vocab_size", std::int64_t{9}).find("token_embd.weight has"), std::string::npos);
  EXPECT_NE(with("llada", "llada.attention.causal", true).find("llada.attention.causal is true"), std::string::npos);
  EXPECT_NE(with("llada", "tokenizer.ggml.mask_token_id", std::int64_t{9999}).find("mask token is 9999"),
            std::string::npos);
  EXPECT_NE(with("llada", "llada.rope.scaling.type", std::string("yarn")).find("'yarn'"), std::string::npos);
  EXPECT_NE(with("bert-fill-mask", "bert.activation", std::string("relu")).find("'relu'"), std::string::npos);
  EXPECT_NE(with("roberta-classifier", "bert.classifier.output_labels", std::vector<std::string>{"a"}).find("1 labels"),
            std::string::npos);
  EXPECT_NE(with("bert-fill-mask", "bert.attention.key_length", std::int64_t{4}).find("do not make up"),
            std::string::npos);
  EXPECT_NE(with("mdlm", "mdlm.attention.key_length", std::int64_t{64}).find("do not make up"), std::string::npos);
  EXPECT_NE(without("llada", "llada.block_count").find("llada.block_count"), std::string::npos);
  EXPECT_NE(without("llada", "blk.1.ffn_up.weight").find("blk.1.ffn_up.weight is missing"), std::string::npos);
  EXPECT_NE(without("llada", "token_embd.weight").find("token_embd.weight is missing"), std::string::npos);
  EXPECT_NE(without("qwen2-prm", "reward.step_token_id").find("reward.step_token_id"), std::string::npos);
  EXPECT_NE(refusal(edited(tiny("llada"), "odd.gguf",
                           [](auto&, std::vector<Piece>& pieces) {
                             Piece& up = find(pieces, "blk.0.ffn_up.weight");
                             std::swap(up.shape[0], up.shape[1]);
                           }))
                .find("expected [64,"),
            std::string::npos);
}

}  // namespace
}  // namespace pgdlm
