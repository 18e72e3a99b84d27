// pytorch_model.bin: files that PyTorch wrote (tests/data/torch, by tests/parity/reference/make_torch_files.py) hold
// the same tensors as their safetensors twins, and damaged or hostile ones are refused with words.
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/fake_hf.h"
#include "convert/plan.h"
#include "convert/safetensors.h"
#include "convert/torch_file.h"
#include "gguf/header.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

fs::path data(const std::string& name) { return fs::path(PGDLM_SOURCE_DIR) / "tests/data/torch" / name; }

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const std::string& bytes) {
  try {
    parse_torch(std::as_bytes(std::span(bytes)), "x.bin");
    return "";
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
}

// ---- the same tensors ----

// Every byte by rows, whatever the order in the file.
std::string by_rows(const HfTensor& tensor) {
  const std::string bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  if (!tensor.by_columns) return bytes;
  const auto rows = static_cast<std::size_t>(tensor.shape[0]), columns = static_cast<std::size_t>(tensor.shape[1]);
  const std::size_t width = bytes.size() / rows / columns;
  std::string out;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out += bytes.substr((c * rows + r) * width, width);
  return out;
}

using Contents = std::map<std::string, std::tuple<std::string, std::vector<std::int64_t>, std::string>>;
Contents contents(const fs::path& path, TensorParser parse) {
  const TensorFile file(path, parse);
  Contents all;
  for (const HfTensor& t : file.tensors()) all[t.name] = {t.dtype_name, t.shape, by_rows(t)};
  return all;
}

TEST(ConvertTorch, HoldsWhatItsTwinHolds) {
  for (const std::string name : {"bert", "odd"}) {
    const Contents twin = contents(data(name + ".safetensors"), parse_safetensors);
    EXPECT_EQ(contents(data(name + "-new.bin"), parse_torch), twin) << name;
    EXPECT_EQ(contents(data(name + "-old.bin"), parse_torch), twin) << name;
  }
  EXPECT_EQ(contents(data("bert-protocol4.bin"), parse_torch), contents(data("bert.safetensors"), parse_safetensors));
}

// ---- whole folders ----

class ConvertTorchFolder : public testing::Test {
 protected:
  ConvertTorchFolder() {
    fill_bert(folder, FakeHead::none).config["num_hidden_layers"] = 1;
    folder.write();
    fs::remove(folder.path() / "model.safetensors");
  }
  void put(const std::string& from, const std::string& to) {
    fs::copy_file(data(from), folder.path() / to, fs::copy_options::overwrite_existing);
  }
  std::string converted(ggml_type type) {
    convert(folder.path(), folder.out(), {.type = type});
    return bytes_of(folder.out());
  }

  FakeFolder folder{"torch"};
};

TEST_F(ConvertTorchFolder, SameFileAsFromSafetensors) {
  put("bert.safetensors", "model.safetensors");
  const std::string f32 = converted(GGML_TYPE_F32), f16 = converted(GGML_TYPE_F16);
  fs::remove(folder.path() / "model.safetensors");
  for (const char* name : {"bert-new.bin", "bert-old.bin", "bert-protocol4.bin"}) {
    put(name, "pytorch_model.bin");
    EXPECT_TRUE(converted(GGML_TYPE_F32) == f32) << name;
    EXPECT_TRUE(converted(GGML_TYPE_F16) == f16) << name;
  }
  fs::remove(folder.path() / "pytorch_model.bin");
  nlohmann::json map;
  for (const char* part : {"bert-part0.bin", "bert-part1.bin"}) {
    put(part, part);
    for (const auto& [tensor, content] : contents(data(part), parse_torch)) map[tensor] = part;
  }
  folder.scratch().file("pytorch_model.bin.index.json", nlohmann::json({{"weight_map", map}}).dump());
  EXPECT_TRUE(converted(GGML_TYPE_F32) == f32);
}

TEST_F(ConvertTorchFolder, SafetensorsCountWhereBothAre) {
  put("bert.safetensors", "model.safetensors");
  put("evil-new.bin", "pytorch_model.bin");
  EXPECT_EQ(complaint(folder), "");
}

TEST_F(ConvertTorchFolder, IndexLeftOverFromTheOtherFormat) {
  folder.scratch().file("model.safetensors.index.json", R"({"weight_map": {"a": "gone.safetensors"}})");
  EXPECT_THAT(complaint(folder), HasSubstr("tensor 'a' is said to be in 'gone.safetensors', which is not in"));
  put("bert-new.bin", "pytorch_model.bin");
  EXPECT_EQ(complaint(folder), "");
}

TEST_F(ConvertTorchFolder, OtherFrameworks) {
  folder.scratch().file("tf_model.h5", "x");
  EXPECT_THAT(complaint(folder), AllOf(HasSubstr("has its weights in tf_model.h5"), HasSubstr("save_pretrained")));
}

TEST_F(ConvertTorchFolder, TransposedMatricesStreamByRows) {
  const std::string columns = bytes_of(data("odd-new.bin"));
  for (const HfTensor& tensor : parse_torch(std::as_bytes(std::span(columns)), "x.bin")) {
    if (tensor.name != "transposed") continue;
    EXPECT_TRUE(tensor.by_columns);
    EXPECT_THAT(read_all(tensor), testing::ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  }
}

// ---- what is refused ----

TEST(ConvertTorch, NothingIsRun) {
  for (const char* name : {"evil-new.bin", "evil-old.bin"})
    EXPECT_THAT(refusal(bytes_of(data(name))),
                AllOf(HasSubstr("its pickle wants 'posix.system', allowed: tensors"), HasSubstr("never runs")));
}

TEST(ConvertTorch, OtherContents) {
  EXPECT_THAT(refusal(bytes_of(data("wrapped-new.bin"))),
              AllOf(HasSubstr("x.bin: 'state_dict': expected a tensor, got a dict"), HasSubstr("state_dict()")));
  EXPECT_THAT(refusal(""), HasSubstr("not a PyTorch file"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1"), HasSubstr("git-lfs pointer"));
  EXPECT_THAT(refusal("PK\x03\x04 and no more"), HasSubstr("zip archive without its end"));
  EXPECT_THAT(refusal("\x80\x02K\x07."), HasSubstr("a pickle, but not one of PyTorch's"));
  EXPECT_THAT(refusal("GGUF\x03"), HasSubstr("not a PyTorch file but a GGUF file, which pgdlm reads as it is"));
  EXPECT_EQ(refusal(RawGguf::number<std::uint64_t>(0x280) + "{"),  // begins as a pickle does
            "x.bin: not a PyTorch file but a safetensors file | name it model.safetensors");
}

TEST(ConvertTorch, IsRecognisedElsewhere) {
  for (const char* name : {"bert-new.bin", "bert-old.bin"}) {
    const std::string bytes = bytes_of(data(name));
    EXPECT_THAT(file_lookalike(std::as_bytes(std::span(bytes))), HasSubstr("writes its .bin and .pt files")) << name;
  }
}

// The beginning of an old file, up to its dict.
const std::string kOld =
    std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) + "\x80\x02M\xe9\x03." + "\x80\x02}.";

// A string of a pickle.
std::string text(const std::string& s) { return "X" + RawGguf::number(static_cast<std::uint32_t>(s.size())) + s; }

TEST(ConvertTorch, PicklesThatAskForMore) {
  const auto said = [](const std::string& pickle) { return refusal(kOld + pickle); };
  EXPECT_THAT(said("\x80\x02"
                   "cos\nsystem\n(" +
                   text("true") + "tR."),
              HasSubstr("wants 'os.system'"));
  EXPECT_THAT(said("\x80\x04"
                   "\x8c\x08"
                   "builtins\x8c\x04"
                   "eval\x93."),
              HasSubstr("wants 'builtins.eval'"));
  EXPECT_THAT(said("\x80\x02"
                   "ctorch.storage\n_load_from_bytes\n."),
              HasSubstr("'torch.storage._load_from_bytes'"));
  EXPECT_THAT(said("\x80\x02i"
                   "os\nsystem\n."),
              HasSubstr("pickle instruction 105"));  // INST
  EXPECT_THAT(said("\x80\x06."), HasSubstr("pickle protocol 6, expected 2 to 5"));
  EXPECT_THAT(said("\x80\x05}."), HasSubstr("keys of storages: the file ends too early"));
  EXPECT_THAT(said("\x80\x02R."), AllOf(HasSubstr("takes a value that is not there"), HasSubstr("damaged")));
  EXPECT_THAT(said("\x80\x02t."), HasSubstr("ends a group that has no beginning"));
  EXPECT_THAT(said("\x80\x02h\x05."), HasSubstr("refers to value 5"));
  EXPECT_THAT(said("\x80\x02K\x01K\x02R."), HasSubstr("calls an integer with an integer"));
  EXPECT_THAT(said("\x80\x02}K\x01"
                   "a."),
              HasSubstr("adds to a dict as if it were a list"));
  EXPECT_THAT(said("\x80\x02K\x01}b."), HasSubstr("sets attributes of an integer"));
  EXPECT_THAT(said("\x80\x02"
                   "ctorch\nFloatStorage\n)R."),
              HasSubstr("calls 'torch.FloatStorage' with 0 arguments"));
  EXPECT_THAT(said("\x80\x02"
                   "ctorch._utils\n_rebuild_tensor_v2\n)R."),
              HasSubstr("the storage of a tensor is missing"));
  EXPECT_THAT(said("\x80\x02X\xff\xff\xff\xff"), HasSubstr("a string of 4294967295 bytes"));
  EXPECT_THAT(said("\x80\x02"
                   "ctorch\nSize\n."),
              AllOf(HasSubstr("wants 'torch.Size'"), HasSubstr("state_dict() alone"), Not(HasSubstr("damaged"))));
  EXPECT_THAT(said("\x80\x02]q\x01h\x01"
                   "a."),
              HasSubstr("expected a dict of tensors, got a list"));  // inside itself
  EXPECT_THAT(said("\x80\x02" + std::string(3'000'000, '(')), HasSubstr("more than 2000000 instructions"));
}

// An old file with one tensor, whose numbers a test chooses.
struct OneTensor {
  std::int32_t stored = 6, offset = 0, claimed = 6;
  std::vector<std::int32_t> shape = {2, 3}, strides = {3, 1};
  std::string key = "7", rebuild = "_rebuild_tensor_v2", rest = "\x89}";  // rest: further arguments
  std::string type = "Float";
  std::size_t width = 4;  // of a number

  static std::string integer(std::int32_t n) { return "J" + RawGguf::number(n); }
  static std::string tuple(const std::vector<std::int32_t>& numbers) {
    std::string all = "(";
    for (const std::int32_t n : numbers) all += integer(n);
    return all + "t";
  }
  std::string arguments() const {
    return "((" + text("storage") + "ctorch\n" + type + "Storage\n" + text(key) + text("cpu") + integer(claimed) +
           "NtQ" + integer(offset) + tuple(shape) + tuple(strides) + rest + "t";
  }
  std::string tensor() const { return "ctorch._utils\n" + rebuild + "\n" + arguments() + "R"; }
  std::string file(const std::string& dict) const {
    return kOld + "\x80\x02" + dict + ".\x80\x02](" + text(key) + "e." +
           RawGguf::number(static_cast<std::int64_t>(stored)) +
           std::string(static_cast<std::size_t>(std::max(stored, 0)) * width, 'x');
  }
  std::string bytes() const { return file("}" + text("w") + tensor() + "s"); }
};

// What is known of it; its bytes may be gone.
HfTensor only_tensor(const std::string& bytes) { return parse_torch(std::as_bytes(std::span(bytes)), "x.bin").at(0); }

TEST(ConvertTorch, NumbersThatDoNotFit) {
  EXPECT_EQ(refusal(OneTensor{}.bytes()), "");
  EXPECT_EQ(refusal(OneTensor{.shape = {3, 2}, .strides = {1, 3}}.bytes()), "");
  EXPECT_EQ(refusal(OneTensor{.shape = {1, 6}, .strides = {99, 1}}.bytes()), "");  // one row is where it is
  EXPECT_THAT(refusal(OneTensor{.offset = 1}.bytes()), HasSubstr("from number 1 on does not fit into a storage of 6"));
  EXPECT_THAT(refusal(OneTensor{.shape = {2, 4}, .strides = {4, 1}}.bytes()), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(OneTensor{.shape = {2, 3}, .strides = {1}}.bytes()), HasSubstr("with strides [1]"));
  EXPECT_THAT(refusal(OneTensor{.offset = -1}.bytes()), HasSubstr("from number -1 of 6"));
  EXPECT_THAT(refusal(OneTensor{.shape = {-2, 3}}.bytes()), HasSubstr("a shape with -2"));
  EXPECT_THAT(refusal(OneTensor{.claimed = 7}.bytes()), HasSubstr("storage '7': has 6 numbers, expected 7"));
  EXPECT_THAT(refusal(OneTensor{.shape = {0x7fffffff, 0x7fffffff, 0x7fffffff}, .strides = {1, 1, 1}}.bytes()),
              HasSubstr("is too large"));
  const std::string sound = OneTensor{}.bytes();
  EXPECT_THAT(refusal(sound.substr(0, sound.size() - 1)), AllOf(HasSubstr("storage '7'"), HasSubstr("ends too early")));
}

// What nobody uses may lie as it likes; Plan::take refuses the rest.
TEST(ConvertTorch, OddStrides) {
  using testing::ElementsAre;
  EXPECT_THAT(only_tensor(bytes_of(data("strided-new.bin"))).odd_strides, ElementsAre(4, 2));
  EXPECT_THAT(only_tensor(OneTensor{.strides = {0, 1}}.bytes()).odd_strides, ElementsAre(0, 1));
  EXPECT_THAT(only_tensor(OneTensor{.shape = {9, 9}, .strides = {0, 0}}.bytes()).odd_strides, ElementsAre(0, 0));
  EXPECT_THAT(only_tensor(OneTensor{.shape = {3}, .strides = {2}}.bytes()).odd_strides, ElementsAre(2));
  EXPECT_THAT(only_tensor(OneTensor{}.bytes()).odd_strides, testing::IsEmpty());
  EXPECT_THAT(refusal(OneTensor{.shape = {3}, .strides = {3}}.bytes()),
              HasSubstr("shape [3] with strides [3] from number 0 on does not fit into a storage of 6"));
  EXPECT_THAT(refusal(OneTensor{.offset = 2, .shape = {3}, .strides = {2}}.bytes()), HasSubstr("does not fit"));
}

TEST(ConvertTorch, OddTensorsMatterWhereTheyAreUsed) {
  FakeFolder other("odd");
  fill_bert(other, FakeHead::classifier).write();
  fs::remove(other.path() / "model.safetensors");
  const auto with = [&](const std::string& name, OneTensor tensor) {
    other.scratch().file("pytorch_model.bin", tensor.file("}" + text(name) + tensor.tensor() + "s"));
    return complaint(other);
  };
  const std::string words = "bert.embeddings.word_embeddings.weight";
  EXPECT_THAT(with(words, {.stored = 96, .claimed = 96, .shape = {12, 8}, .strides = {0, 1}}),
              AllOf(HasSubstr("'" + words + "': strides [0, 1] for shape [12, 8]"), HasSubstr(".contiguous()")));
  EXPECT_THAT(with(words, {.stored = 96, .claimed = 96, .shape = {12, 8}, .strides = {8, 1}}),
              HasSubstr("position_embeddings.weight' is missing"));
  EXPECT_THAT(
      with(words,
           {.stored = 96, .claimed = 96, .shape = {12, 8}, .strides = {8, 1}, .type = "ComplexFloat", .width = 8}),
      AllOf(HasSubstr("is of type C64, supported: F32"), Not(HasSubstr("quantised"))));
  EXPECT_THAT(with("bert.embeddings.position_ids", {.shape = {3}, .strides = {2}, .type = "Char", .width = 1}),
              HasSubstr("word_embeddings.weight' is missing"));
}

// ---- what other versions wrote ----

TEST(ConvertTorch, OtherWaysToSayTheSame) {
  EXPECT_EQ(refusal(OneTensor{.rebuild = "_rebuild_tensor", .rest = ""}.bytes()), "");
  EXPECT_EQ(refusal(OneTensor{.rest = "\x89}}"}.bytes()), "");
  EXPECT_EQ(refusal(OneTensor{.rest = "\x89}N"}.bytes()), "");
  const OneTensor one;
  const std::string parameter = "ctorch._utils\n_rebuild_parameter_with_state\n(" + one.tensor() + "\x88}}tR";
  EXPECT_EQ(refusal(one.file("}" + text("w") + parameter + "s")), "");
  const std::string python2 = "ccollections\nOrderedDict\n](](" + text("w") + one.tensor() + "ee\x85R}b";
  EXPECT_EQ(only_tensor(one.file(python2)).name, "w");
  EXPECT_THAT(refusal(one.file("ccollections\nOrderedDict\n](](" + text("w") + "ee\x85R")),
              HasSubstr("a key and a value"));
}

TEST(ConvertTorch, NumbersYetToBeNegated) {
  EXPECT_THAT(refusal(OneTensor{.rest = "\x89}}" + text("neg") + "\x88s"}.bytes()),
              AllOf(HasSubstr("yet to be negated"), HasSubstr(".resolve_neg()")));
}

TEST(ConvertTorch, DoublesAreRead) {
  const std::string bytes = bytes_of(data("odd-new.bin"));
  for (const HfTensor& tensor : parse_torch(std::as_bytes(std::span(bytes)), "x.bin"))
    if (tensor.name == "double") {
      EXPECT_THAT(read_all(tensor), testing::ElementsAre(1, 1));
    }
  FakeFolder folder("doubles");
  fill_llada(folder).write();
  convert(folder.path(), folder.out(), {.type = GGML_TYPE_F32});
  const std::string from_floats = bytes_of(folder.out());
  for (auto& [name, tensor] : folder.tensors) tensor.dtype = "F64";
  folder.write();
  convert(folder.path(), folder.out(), {.type = GGML_TYPE_F32});
  EXPECT_TRUE(bytes_of(folder.out()) == from_floats);
}

// ---- damage ----

std::string repeated(const std::string& part, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += part;
  return all;
}

// Small files that would like to become large: what is recalled from the memo must not be copied.
TEST(ConvertTorch, BombsDoNotGoOff) {
  EXPECT_THAT(refusal(OneTensor{.key = std::string(101, 'k')}.bytes()), HasSubstr("key of a storage has 101 bytes"));
  const OneTensor one{
      .shape = {1, 1, 1, 1, 1, 1, 1, 1}, .strides = {1, 1, 1, 1, 1, 1, 1, 1}, .key = std::string(100, 'k')};
  const std::string tensors =
      "ctorch._utils\n_rebuild_tensor_v2\nq\1" + one.arguments() + "q\2" + repeated("h\1h\2R", 600'000);
  EXPECT_THAT(refusal(one.file(tensors)), HasSubstr("expected a dict of tensors, got a tensor"));
  std::string names = "}(" + text("a") + one.tensor() + "q\1";
  for (int i = 0; i < 400'000; ++i) names += text(std::to_string(i)) + "h\1";
  EXPECT_EQ(refusal(one.file(names + "u")), "");
  const std::string dicts = "](](K\1K\2eq\1" + repeated("h\1", 100'000) + "e\x85q\2" +
                            "ccollections\nOrderedDict\nq\3" + repeated("h\3h\2R", 600'000);
  EXPECT_THAT(refusal(kOld + "\x80\x02" + dicts), HasSubstr("more than 2000000 instructions"));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(used.ru_maxrss, 1'500'000) << "kB";
}

// The bytes lie on the heap, where ASan sees a step beyond their end. True if the file could be read.
bool survives(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    unsigned sum = 0;
    for (const HfTensor& tensor : parse_torch(std::as_bytes(std::span(exact)), "x"))
      for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
    return sum > 0;
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    return false;
  }
}

TEST(ConvertTorch, DamagedInTwentyThousandWays) {
  std::mt19937 random(9);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (const char* name : {"odd-new.bin", "odd-old.bin", "bert-new.bin", "bert-old.bin"}) {
    const std::string sound = bytes_of(data(name));
    ASSERT_TRUE(survives(sound)) << name;
    int opened = 0;
    for (int i = 0; i < 5000; ++i) {
      std::string damaged = sound;
      char& byte = damaged[below(damaged.size())];
      byte = static_cast<char>(i % 2 == 0 ? byte ^ (1 << below(8)) : below(256));
      if (i % 10 == 0) damaged.resize(below(damaged.size()));
      opened += survives(damaged) ? 1 : 0;
      if (HasFailure()) FAIL() << name << ", mutation " << i;
    }
    EXPECT_LT(opened, 4700) << name;
  }
}

TEST(ConvertTorch, ExtremeNumbersEverywhere) {
  for (const char* name : {"odd-new.bin", "odd-old.bin"}) {
    const std::string sound = bytes_of(data(name));
    for (std::size_t at = 0; at + 8 <= sound.size(); ++at)
      for (const std::uint64_t number : {~0ull, 1ull << 63, 1ull << 32, 0ull}) {
        std::string damaged = sound;
        damaged.replace(at, 8, RawGguf::number(number));
        survives(damaged);
        if (HasFailure()) FAIL() << name << ": " << number << " at " << at;
      }
  }
}

TEST(ConvertTorch, EveryTruncation) {
  for (const char* name : {"odd-new.bin", "odd-old.bin"}) {
    const std::string sound = bytes_of(data(name));
    for (std::size_t length = 0; length < sound.size(); ++length)
      EXPECT_FALSE(survives(sound.substr(0, length))) << name << " " << length;
  }
}

}  // namespace
}  // namespace pgdlm
