// Folders that are incomplete, contradictory, damaged, or of a model we have no code for: each is refused with words
// that say what and where, and no file is left behind.
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/fake_hf.h"
#include "convert/safetensors.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class ConvertBadFolder : public testing::Test {
 protected:
  ConvertBadFolder() { fill_llada(folder); }
  std::string refused() {
    folder.write();
    const std::string said = complaint(folder);
    EXPECT_THAT(folder.scratch().names(), Not(Contains(HasSubstr("out.gguf"))));
    return said;
  }

  FakeFolder folder{"bad-folder"};
};

TEST_F(ConvertBadFolder, MissingFiles) {
  EXPECT_THAT(complaint(folder), HasSubstr("has no config.json"));
  folder.write();
  std::filesystem::remove(folder.path() / "model.safetensors");
  EXPECT_THAT(complaint(folder), HasSubstr("has neither model.safetensors nor pytorch_model.bin"));
  EXPECT_THROW(convert(folder.path() / "nothing", folder.out(), {}), Error);
}

TEST_F(ConvertBadFolder, BrokenConfig) {
  folder.write();
  folder.scratch().file("config.json", "{\"a\": ");
  EXPECT_THAT(complaint(folder), AllOf(HasSubstr("config.json"), HasSubstr("not valid JSON")));
  folder.scratch().file("config.json", "[]");
  EXPECT_THAT(complaint(folder), HasSubstr("expected a JSON object, got array"));
}

TEST_F(ConvertBadFolder, OtherArchitectures) {
  folder.config["architectures"] = {"LlamaForCausalLM"};
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("architectures is [\"LlamaForCausalLM\"], supported: "), HasSubstr("DreamModel")));
  folder.config.erase("architectures");
  folder.config["model_type"] = "llama";
  EXPECT_THAT(refused(), HasSubstr("architectures is missing"));
  folder.config["model_type"] = "llada";
  EXPECT_EQ((folder.write(), complaint(folder)), "");
}

TEST_F(ConvertBadFolder, FieldsOfConfig) {
  folder.config.erase("n_layers");
  EXPECT_THAT(refused(), HasSubstr("config.json: n_layers is missing"));
  folder.config["n_layers"] = "two";
  EXPECT_THAT(refused(), HasSubstr("n_layers: expected an integer, got \"two\""));
  folder.config["n_layers"] = 0;
  EXPECT_THAT(refused(), HasSubstr("n_layers: expected 1 to 2147483647, got 0"));
  folder.config["n_layers"] = 2;
  folder.config["n_kv_heads"] = 3;
  EXPECT_THAT(refused(), HasSubstr("heads do not fit together"));
  folder.config["n_kv_heads"] = 1;
  folder.config["alibi"] = true;
  EXPECT_THAT(refused(), HasSubstr("alibi is true, supported: false"));
}

TEST_F(ConvertBadFolder, NumbersOfConfig) {
  for (const double epsilon : {-1.0, 0.0, 1e-60, 1e60}) {
    folder.config["rms_norm_eps"] = epsilon;
    EXPECT_THAT(refused(),
                HasSubstr("config.json: rms_norm_eps: expected a number above 0 that float32 can hold, got "))
        << epsilon;
  }
  folder.config["rms_norm_eps"] = 1e-5;
  folder.config["rope_theta"] = -3;
  EXPECT_THAT(refused(), HasSubstr("rope_theta: expected a number above 0 that float32 can hold, got -3"));
}

TEST_F(ConvertBadFolder, DiffusionDefaults) {
  const auto said = [&](const json& diffusion) {
    folder.config["diffusion"] = diffusion;
    return refused();
  };
  EXPECT_THAT(said({{"process", "slow"}}), HasSubstr("diffusion.process: expected mdlm, remdm, llada or dream, got"));
  EXPECT_THAT(said({{"steps", 0}}), HasSubstr("diffusion.steps: expected an integer from 1 on, got 0"));
  EXPECT_THAT(said({{"temperature", -1}}), HasSubstr("diffusion.temperature: expected a number from 0 on that"));
  EXPECT_THAT(said({{"temperature", 1e300}}), HasSubstr("that float32 can hold, got 1e+300"));
  EXPECT_THAT(said({{"stepz", 3}}), HasSubstr("diffusion has the field 'stepz', allowed: process, "));
}

// What is there already is replaced only if it is a GGUF file: a slip must not cost the weights.
TEST_F(ConvertBadFolder, OutputOverSomethingElse) {
  folder.write();
  const std::filesystem::path weights = folder.path() / "model.safetensors";
  const auto size = std::filesystem::file_size(weights);
  try {
    convert(folder.path(), weights, {});
    FAIL() << "the weights are gone";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("model.safetensors' is there and is not a GGUF file"));
  }
  EXPECT_EQ(std::filesystem::file_size(weights), size);
  folder.scratch().file("out.gguf", "");  // as mktemp leaves it
  EXPECT_EQ(complaint(folder), "");
  EXPECT_EQ(complaint(folder), "");  // over its own work
}

TEST_F(ConvertBadFolder, TimeConditioning) {
  FakeFolder folder("mdlm-time");
  fill_mdlm(folder).config["time_conditioning"] = true;
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("time_conditioning is true, supported: false"));
}

TEST_F(ConvertBadFolder, RopeScaling) {
  FakeFolder folder("dream-rope");
  fill_dream(folder).config["rope_scaling"] = {{"rope_type", "yarn"}};
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("rope_scaling of type \"yarn\""));
  folder.config["rope_scaling"] = {{"rope_type", nullptr}, {"type", nullptr}};
  folder.config["rope_parameters"] = {{"rope_type", nullptr}, {"rope_theta", nullptr}};
  folder.write();
  EXPECT_EQ(complaint(folder), "");
  folder.config["rope_parameters"] = {{"rope_theta", 1e300}};
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("rope_parameters.rope_theta: expected a number above 0 that float32"));
}

TEST_F(ConvertBadFolder, Tensors) {
  FakeTensor& q = folder.tensors["model.transformer.blocks.1.q_proj.weight"];
  const FakeTensor sound = q;
  q = folder.add("tmp", {4, 16});
  folder.tensors.erase("tmp");
  EXPECT_THAT(refused(), HasSubstr("'model.transformer.blocks.1.q_proj.weight': expected shape [8, 8], got [4, 16]"));
  q = sound;
  q.dtype = "I64";
  EXPECT_THAT(refused(), AllOf(HasSubstr("is of type I64, supported: F32, F16, BF16, F64"), HasSubstr("quantised")));
  folder.tensors.erase("model.transformer.blocks.1.q_proj.weight");
  EXPECT_THAT(refused(), HasSubstr("tensor 'model.transformer.blocks.1.q_proj.weight' is missing"));
  folder.tensors["model.transformer.blocks.1.q_proj.weight"] = sound;
  folder.add("model.transformer.blocks.0.experts.weight", {1});
  EXPECT_THAT(refused(),
              HasSubstr("has 1 tensors this architecture does not know: 'model.transformer.blocks.0.experts"));
}

TEST_F(ConvertBadFolder, NamesInsideAWrapper) {
  for (const std::string prefix : {"module.", "_orig_mod.", "other."}) {
    FakeFolder wrapped("wrapped");
    fill_llada(wrapped);
    FakeTensors tensors;
    for (const auto& [name, tensor] : wrapped.tensors) tensors[prefix + name] = tensor;
    wrapped.tensors = tensors;
    wrapped.write();
    const std::string said = complaint(wrapped), wte = "model.transformer.wte.weight";
    EXPECT_THAT(said, HasSubstr("tensor '" + wte + "' is missing, but there is '" + prefix + wte + "'"));
    EXPECT_EQ(said.find("DataParallel") == std::string::npos, prefix == "other.");
  }
}

TEST_F(ConvertBadFolder, ClassifierWithoutOutputs) {
  FakeFolder folder("no-outputs");
  fill_bert(folder, FakeHead::classifier).config["id2label"] = json::object();
  folder.add("classifier.weight", {0, 8});
  folder.add("classifier.bias", {0});
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("tensor 'classifier.weight': expected sizes from 1 on, got shape [0, 8]"));
}

TEST_F(ConvertBadFolder, WeightsThatAreNoNumbers) {
  folder.tensors["model.transformer.ff_out.weight"].values[9] = NAN;
  EXPECT_THAT(refused(), HasSubstr("tensor 'output.weight' has nan in row 1, expected finite numbers"));
  folder.tensors["model.transformer.ff_out.weight"].values[9] = 1e5f;
  folder.write();
  EXPECT_THAT(complaint(folder, GGML_TYPE_F16), HasSubstr("expected at most 65504 for type f16"));
  EXPECT_EQ(complaint(folder, GGML_TYPE_BF16), "");
}

TEST_F(ConvertBadFolder, HeadThatIsPromisedAndAbsent) {
  FakeFolder folder("no-head");
  fill_bert(folder, FakeHead::classifier);
  folder.tensors.erase("classifier.weight");
  folder.tensors.erase("classifier.bias");
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("there are no tensors of a classifier"));
  fill_bert(folder, FakeHead::classifier).config["id2label"] = {{"0", "only"}};
  folder.write();
  EXPECT_THAT(complaint(folder), HasSubstr("id2label has 1 labels, the classifier 2 outputs"));
  fill_qwen2_prm(folder);
  FakeFolder prm("no-step-token");
  fill_qwen2_prm(prm).json_files["tokenizer.json"] = tiny_tokenizer({"<|endoftext|>"});
  prm.write();
  EXPECT_THAT(complaint(prm), HasSubstr("no token '<extra_0>'"));
}

TEST_F(ConvertBadFolder, Shards) {
  const auto index = folder.path() / "model.safetensors.index.json";
  const auto rewrite = [&](auto change) {
    folder.write(2);
    json content = json::parse(std::ifstream(index));
    change(content["weight_map"]);
    folder.scratch().file("model.safetensors.index.json", content.dump());
    return complaint(folder);
  };
  const std::string wte = "model.transformer.wte.weight";
  EXPECT_EQ(rewrite([](json&) {}), "");
  EXPECT_THAT(rewrite([&](json& map) { map[wte] = "part-9.safetensors"; }),
              AllOf(HasSubstr("'" + wte + "'"), HasSubstr("'part-9.safetensors'")));
  EXPECT_THAT(rewrite([&](json& map) { map[wte] = "../config.json"; }), HasSubstr("name of a file in the same folder"));
  EXPECT_THAT(rewrite([&](json& map) {
                map[wte] = map[wte] == "part-0.safetensors" ? "part-1.safetensors" : "part-0.safetensors";
              }),
              AllOf(HasSubstr("'" + wte + "' is in 'part-"), HasSubstr("but the index says 'part-")));
  EXPECT_THAT(rewrite([&](json& map) { map.erase(wte); }), HasSubstr("but the index does not know it"));
  EXPECT_THAT(rewrite([&](json& map) { map["ghost"] = "part-0.safetensors"; }),
              HasSubstr("tensor 'ghost' is said to be in 'part-0.safetensors', but it is not"));
  EXPECT_THAT(rewrite([&](json& map) { map = 3; }), HasSubstr("weight_map: expected an object"));
}

// ---- safetensors ----

std::string refusal(const std::string& bytes) {
  try {
    parse_safetensors(std::as_bytes(std::span(bytes)), "x.safetensors");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_model);
    return error.what();
  }
}

std::string with_header(const std::string& header, std::size_t data) {
  return RawGguf::number<std::uint64_t>(header.size()) + header + std::string(data, 'x');
}

TEST(ConvertSafetensors, Lies) {
  EXPECT_EQ(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8)), "");
  EXPECT_EQ(refusal(with_header(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4)), "");
  EXPECT_THAT(refusal(""), HasSubstr("not a safetensors file"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1"), HasSubstr("git-lfs pointer"));
  EXPECT_THAT(refusal(RawGguf::number(~0ull) + "{}"), HasSubstr("claims a header of 18446744073709551615 bytes"));
  EXPECT_THAT(refusal(with_header("{", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(with_header("[]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(with_header(R"({"a":3})", 0)), HasSubstr("tensor 'a': expected a JSON object"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", 8)),
              HasSubstr("\"Q4\" is unknown"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8)),
              HasSubstr("integers from 0"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})", 8)),
              HasSubstr("integers from 0"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7)),
              HasSubstr("ends at byte 8 of the data, which has 7"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8)),
              HasSubstr("takes 12 bytes, its offsets span 8"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8)),
              HasSubstr("expected [begin, end]"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 8)),
              HasSubstr("is too large"));
  EXPECT_THAT(
      refusal(with_header(
          R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},"b":{"dtype":"U8","shape":[5],"data_offsets":[4,9]}})",
          9)),
      HasSubstr("'a' and 'b' share bytes"));
}

TEST(ConvertSafetensors, DamagedInTenThousandWays) {
  FakeFolder folder("safetensors-fuzz");
  folder.add("first.weight", {4, 8});
  folder.add("second.weight", {3}).dtype = "BF16";
  folder.add("third", {1, 2, 3}).dtype = "I64";
  const std::string sound = safetensors_bytes(folder.tensors);
  std::uint64_t header = 0;
  std::memcpy(&header, sound.data(), sizeof(header));
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const auto survives = [](const std::string& bytes) {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // on the heap, to its last byte
    try {
      unsigned sum = 0;
      for (const HfTensor& tensor : parse_safetensors(std::as_bytes(std::span(exact)), "x"))
        for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
      return sum > 0;
    } catch (const Error&) {
      return false;
    }
  };
  ASSERT_TRUE(survives(sound));
  int opened = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string damaged = sound;
    char& byte = damaged[below(10) == 0 ? below(8) : below(8 + header)];
    byte = static_cast<char>(i % 2 == 0 ? byte ^ (1 << below(8)) : below(256));
    if (i % 5 == 0) damaged.resize(below(damaged.size()));
    opened += survives(damaged) ? 1 : 0;
  }
  EXPECT_LT(opened, 5000);
}

// Whole conversions from damaged folders: an Error or a file, never anything else.
TEST(ConvertSafetensors, DamagedFolders) {
  FakeFolder folder("folder-fuzz");
  fill_llada(folder).write();
  std::mt19937 random(5);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const auto content = [&](const char* name) {
    std::ifstream file(folder.path() / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const char* name : {"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"}) {
    const std::string sound = content(name);
    for (int i = 0; i < 100; ++i) {
      std::string damaged = sound;
      damaged[below(std::min<std::size_t>(damaged.size(), 3000))] = static_cast<char>(below(256));
      folder.scratch().file(name, damaged);
      EXPECT_NO_FATAL_FAILURE(complaint(folder));
    }
    folder.scratch().file(name, sound);
  }
  EXPECT_EQ(complaint(folder), "");
}

}  // namespace
}  // namespace pgdlm
