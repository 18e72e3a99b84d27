// What the writer writes, our reader and ggml's own read alike; and it leaves nothing behind unless it commits.
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gguf/gguf.h"
#include "gguf/raw_gguf.h"
#include "gguf/writer.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.25f);
  return values;
}

void fill(GgufWriter& out) {
  out.set("general.architecture", std::string("llada"));
  out.set("llada.block_count", std::int64_t{2});
  out.set("odd.negative", std::int64_t{-1});
  out.set("odd.large", std::int64_t{1} << 40);
  out.set("llada.attention.layer_norm_rms_epsilon", 1e-5);
  out.set("llada.attention.causal", false);
  out.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "\u2581b", ""});
  out.set("tokenizer.ggml.token_type", std::vector<std::int64_t>{1, 3, -1});
  out.set("odd.scores", std::vector<double>{0.5, -2});
  out.set("odd.flags", std::vector<bool>{true, false, true});
  out.set("odd.nothing", std::vector<std::string>{});
  out.declare("a.weight", GGML_TYPE_F32, std::vector<std::int64_t>{3, 5});
  out.declare("b.weight", GGML_TYPE_Q8_0, std::vector<std::int64_t>{64, 2});
  out.declare("c.bias", GGML_TYPE_F16, std::vector<std::int64_t>{7});
  const std::vector<float> values = counting(15);
  const auto bytes = std::as_bytes(std::span(values));
  out.write("a.weight", bytes.first(13));  // pieces of any size
  out.write("a.weight", bytes.subspan(13));
  out.write("b.weight", std::vector<std::byte>(ggml_row_size(GGML_TYPE_Q8_0, 128), std::byte{3}));
  out.write("c.bias", std::vector<std::byte>(14, std::byte{4}));
}

struct Freed {
  void operator()(gguf_context* file) const { gguf_free(file); }
  void operator()(ggml_context* context) const { ggml_free(context); }
};

class GgufWriterTest : public testing::Test {
 protected:
  Scratch scratch{"gguf-writer"};
};

TEST_F(GgufWriterTest, OurReaderReadsItBack) {
  GgufWriter out(scratch / "out.gguf");
  fill(out);
  out.commit();
  const auto file = Gguf::open(scratch / "out.gguf");
  EXPECT_EQ(file->metadata().size(), 11u);
  EXPECT_EQ(file->require<std::string>("general.architecture"), "llada");
  EXPECT_EQ(file->require<std::int64_t>("odd.negative"), -1);
  EXPECT_EQ(file->require<std::int64_t>("odd.large"), std::int64_t{1} << 40);
  EXPECT_EQ(file->require<double>("llada.attention.layer_norm_rms_epsilon"), static_cast<double>(1e-5f));
  EXPECT_FALSE(file->require<bool>("llada.attention.causal"));
  EXPECT_THAT(file->require<std::vector<std::string>>("tokenizer.ggml.tokens"), ElementsAre("a", "\u2581b", ""));
  EXPECT_THAT(file->require<std::vector<std::int64_t>>("tokenizer.ggml.token_type"), ElementsAre(1, 3, -1));
  EXPECT_THAT(file->require<std::vector<double>>("tokenizer.ggml.token_type"), ElementsAre(1, 3, -1));
  EXPECT_THAT(file->require<std::vector<double>>("odd.scores"), ElementsAre(0.5, -2));
  EXPECT_THAT(file->require<std::vector<bool>>("odd.flags"), ElementsAre(true, false, true));
  EXPECT_THAT(file->require<std::vector<std::string>>("odd.nothing"), IsEmpty());
  ASSERT_EQ(file->tensors().size(), 3u);
  const GgufTensor& a = *file->find("a.weight");
  EXPECT_EQ(a.dimensions, 2);
  EXPECT_THAT(a.shape, ElementsAre(3, 5, 1, 1));
  ASSERT_EQ(a.bytes.size(), 60u);
  EXPECT_EQ(std::memcmp(a.bytes.data(), counting(15).data(), 60), 0);
  EXPECT_EQ(file->find("b.weight")->type, GGML_TYPE_Q8_0);
  EXPECT_EQ(file->find("c.bias")->bytes.back(), std::byte{4});
  EXPECT_THAT(scratch.names(), ElementsAre("out.gguf"));
}

// ggml's value of a key, in our variant; the types are those llama.cpp asks for.
GgufValue value_by_ggml(const gguf_context* file, std::int64_t id) {
  switch (gguf_get_kv_type(file, id)) {
    case GGUF_TYPE_UINT32: return std::int64_t{gguf_get_val_u32(file, id)};
    case GGUF_TYPE_INT64: return gguf_get_val_i64(file, id);
    case GGUF_TYPE_FLOAT32: return static_cast<double>(gguf_get_val_f32(file, id));
    case GGUF_TYPE_BOOL: return gguf_get_val_bool(file, id);
    case GGUF_TYPE_STRING: return std::string(gguf_get_val_str(file, id));
    default: break;
  }
  const std::size_t count = gguf_get_arr_n(file, id);
  if (gguf_get_arr_type(file, id) == GGUF_TYPE_STRING) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.emplace_back(gguf_get_arr_str(file, id, i));
    return texts;
  }
  const void* data = gguf_get_arr_data(file, id);
  switch (gguf_get_arr_type(file, id)) {
    case GGUF_TYPE_INT32: {
      const auto* values = static_cast<const std::int32_t*>(data);
      return std::vector<std::int64_t>(values, values + count);
    }
    case GGUF_TYPE_FLOAT32: {
      const auto* values = static_cast<const float*>(data);
      return std::vector<double>(values, values + count);
    }
    case GGUF_TYPE_BOOL: {
      const auto* values = static_cast<const std::int8_t*>(data);
      return std::vector<bool>(values, values + count);
    }
    default: ADD_FAILURE() << "an array of type " << gguf_get_arr_type(file, id); return false;
  }
}

TEST_F(GgufWriterTest, GgmlReadsTheSame) {
  const std::string path = scratch / "out.gguf";
  GgufWriter out(path);
  fill(out);
  out.commit();
  const auto ours = Gguf::open(path);
  ggml_context* context = nullptr;
  const std::unique_ptr<gguf_context, Freed> theirs(
      gguf_init_from_file(path.c_str(), {.no_alloc = false, .ctx = &context}));
  const std::unique_ptr<ggml_context, Freed> owned(context);
  ASSERT_NE(theirs, nullptr);

  ASSERT_EQ(gguf_get_n_kv(theirs.get()), static_cast<std::int64_t>(ours->metadata().size()));
  for (const auto& [key, value] : ours->metadata()) {
    const std::int64_t id = gguf_find_key(theirs.get(), key.c_str());
    ASSERT_GE(id, 0) << key;
    EXPECT_EQ(value_by_ggml(theirs.get(), id), value) << key;
  }
  ASSERT_EQ(gguf_get_n_tensors(theirs.get()), static_cast<std::int64_t>(ours->tensors().size()));
  for (const GgufTensor& tensor : ours->tensors()) {
    const ggml_tensor* same = ggml_get_tensor(context, tensor.name.c_str());
    ASSERT_NE(same, nullptr) << tensor.name;
    EXPECT_EQ(same->type, tensor.type);
    EXPECT_THAT(tensor.shape, ElementsAre(same->ne[0], same->ne[1], same->ne[2], same->ne[3]));
    ASSERT_EQ(ggml_nbytes(same), tensor.bytes.size());
    EXPECT_EQ(std::memcmp(same->data, tensor.bytes.data(), tensor.bytes.size()), 0) << tensor.name;
  }
}

TEST_F(GgufWriterTest, KeysWithoutTensors) {
  GgufWriter out(scratch / "vocabulary.gguf");
  out.set("general.architecture", std::string("llada"));
  out.set("general.architecture", std::string("dream"));  // the last one counts
  out.commit();
  EXPECT_EQ(Gguf::open(scratch / "vocabulary.gguf")->require<std::string>("general.architecture"), "dream");
}

TEST_F(GgufWriterTest, WithoutCommitNothingStays) {
  scratch.file("out.gguf", "the old file");
  {
    GgufWriter out(scratch / "out.gguf");
    fill(out);
    EXPECT_EQ(scratch.names().size(), 2u);
  }
  EXPECT_THAT(scratch.names(), ElementsAre("out.gguf"));
  EXPECT_EQ(std::filesystem::file_size(scratch / "out.gguf"), 12u);
}

TEST_F(GgufWriterTest, CommitTakesThePlaceOfTheOldFile) {
  scratch.file("out.gguf", "the old file");
  GgufWriter out(scratch / "out.gguf");
  fill(out);
  out.commit();
  EXPECT_NO_THROW(Gguf::open(scratch / "out.gguf"));
}

TEST_F(GgufWriterTest, PlacesThatCannotBeWritten) {
  const auto complaint = [](const std::filesystem::path& path) -> std::string {
    try {
      GgufWriter out(path);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_request);
      return error.what();
    }
  };
  EXPECT_THAT(complaint(scratch / "no/such/folder.gguf"), HasSubstr("folder.gguf' cannot be created: No such file"));
  EXPECT_THAT(complaint(scratch.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint("/dev/null"), HasSubstr("not a regular file"));
}

TEST_F(GgufWriterTest, AFullDiskIsAnErrorAndLeavesNothing) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 256, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    GgufWriter out(scratch / "out.gguf");
    fill(out);
  } catch (const Error& error) {
    message = error.what();
    EXPECT_EQ(error.code(), ErrorCode::exhausted);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr("out.gguf' cannot be written"));
  EXPECT_THAT(scratch.names(), IsEmpty());
}

TEST_F(GgufWriterTest, MisuseIsOurBug) {
  GgufWriter out(scratch / "out.gguf");
  out.declare("a", GGML_TYPE_F32, std::vector<std::int64_t>{2});
  EXPECT_THROW(out.declare("a", GGML_TYPE_F32, std::vector<std::int64_t>{2}), Error);
  EXPECT_THROW(out.declare("b", GGML_TYPE_Q8_0, std::vector<std::int64_t>{33}), Error);
  EXPECT_THROW(out.write("b", std::vector<std::byte>(4)), Error);
  EXPECT_THROW(out.write("a", std::vector<std::byte>(9)), Error);
  out.write("a", std::vector<std::byte>(4));
  EXPECT_THROW(out.commit(), Error);
}

}  // namespace
}  // namespace pgdlm
