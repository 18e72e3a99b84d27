// The reader against files that lie: one test per kind of lie, each with the words a user needs to see.
#include <sys/stat.h>

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gguf/gguf.h"
#include "gguf/raw_gguf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StrEq;

class GgufReader : public testing::Test {
 protected:
  // What opening a file with these bytes complains about, message and hint together; "" if it opens.
  std::string complaint(const std::string& bytes) {
    const auto path = scratch.file("model.gguf", bytes);
    try {
      Gguf::open(path);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_model);
      EXPECT_THAT(error.what(), testing::StartsWith(path.string()));
      return std::string(error.what()).substr(path.string().size()) + " | " + error.hint();
    }
  }
  std::string complaint(const RawGguf& raw) { return complaint(raw.bytes()); }
  std::string complaint_about_key(std::uint32_t type, const std::string& value) {
    return complaint(RawGguf{.keys = {RawGguf::key("some.key", type, value)}});
  }
  std::string complaint_about_tensor(const RawTensor& tensor, std::size_t data = 64) {
    return complaint(RawGguf{.tensors = {tensor}, .data = data});
  }
  std::string complaint_about_path(const std::filesystem::path& path) {
    try {
      Gguf::open(path);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_request);
      return error.what();
    }
  }

  template <class T>
  static std::string n(T value) {
    return RawGguf::number<T>(value);
  }

  Scratch scratch{"gguf-reader"};
};

TEST_F(GgufReader, FilesThatAreNotThere) {
  EXPECT_THAT(complaint_about_path(scratch / "none.gguf"), AllOf(HasSubstr("none.gguf'"), HasSubstr("No such file")));
  EXPECT_THAT(complaint_about_path(scratch.path()), HasSubstr("it is a folder"));
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(complaint_about_path(scratch / "pipe"), HasSubstr("not a regular file"));
}

TEST_F(GgufReader, OtherKindsOfFiles) {
  EXPECT_THAT(complaint(""), HasSubstr("the file is empty"));
  EXPECT_THAT(complaint("GG"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(complaint("hello, world"), AllOf(HasSubstr("not a GGUF file"), HasSubstr("pgdlm convert")));
  EXPECT_THAT(complaint("PK\x03\x04...."), HasSubstr("zip archive"));
  EXPECT_THAT(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:0"), HasSubstr("git lfs pull"));
  EXPECT_THAT(complaint("\n<!DOCTYPE html><html>"), HasSubstr("web page"));
  EXPECT_THAT(complaint(n<std::uint64_t>(2) + "{}"), HasSubstr("safetensors"));
  EXPECT_THAT(complaint("tjgg\x01"), HasSubstr("older than GGUF"));
}

TEST_F(GgufReader, Versions) {
  EXPECT_EQ(complaint(RawGguf{.version = 2}), "");
  EXPECT_EQ(complaint(RawGguf{.version = 3}), "");
  EXPECT_THAT(complaint(RawGguf{.version = 1}), HasSubstr("version 1 is no longer in use, expected 2 or 3"));
  EXPECT_THAT(complaint(RawGguf{.version = 4}), HasSubstr("version: expected 2 or 3, got 4"));
  EXPECT_THAT(complaint(RawGguf{.version = 3u << 24}), HasSubstr("version 3 in big-endian byte order"));
}

TEST_F(GgufReader, CountsBeyondTheFile) {
  EXPECT_THAT(complaint("GGUF"), HasSubstr("header: the file ends too early"));
  EXPECT_THAT(complaint(RawGguf{.extra_keys = 1}), HasSubstr("number of keys: claims 1 entries"));
  EXPECT_THAT(complaint(RawGguf{.extra_keys = -1}), HasSubstr("number of keys: claims 18446744073709551615 entries"));
  EXPECT_THAT(complaint(RawGguf{.extra_tensors = std::int64_t{1} << 60}), HasSubstr("number of tensors: claims"));
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_STRING, n<std::uint64_t>(1000)),
              AllOf(HasSubstr("key 'some.key': claims 1000 entries"), HasSubstr("not downloaded to its end")));
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_ARRAY, n<std::uint32_t>(GGUF_TYPE_FLOAT64) + n<std::uint64_t>(~0ull)),
              HasSubstr("key 'some.key': claims 18446744073709551615 entries of 8 bytes"));
}

TEST_F(GgufReader, MemoryIsBounded) {
  // 40 MB of bytes would be 320 MB of integers.
  const std::string many = n<std::uint32_t>(GGUF_TYPE_UINT8) + n<std::uint64_t>(40 << 20) + std::string(40 << 20, 'x');
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_ARRAY, many), HasSubstr("key 'some.key': the header would take more"));
}

TEST_F(GgufReader, Values) {
  EXPECT_THAT(complaint_about_key(13, ""), HasSubstr("key 'some.key': expected a value type from 0 to 12, got 13"));
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_ARRAY, n<std::uint32_t>(GGUF_TYPE_ARRAY) + n<std::uint64_t>(0)),
              HasSubstr("key 'some.key': an array of arrays"));
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_BOOL, "\x02"), HasSubstr("expected a boolean (0 or 1), got 2"));
  EXPECT_THAT(complaint_about_key(GGUF_TYPE_UINT64, n<std::uint64_t>(1ull << 63)), HasSubstr("below 2^63"));
  for (const char* bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\xf5\x80\x80\x80", "a\x80"})
    EXPECT_THAT(complaint_about_key(GGUF_TYPE_STRING, RawGguf::text(bad)), HasSubstr("is not valid UTF-8"));
  EXPECT_EQ(complaint_about_key(GGUF_TYPE_STRING, RawGguf::text("\u2581\u00e9\U0001f600")), "");
}

TEST_F(GgufReader, NamesGivenTwice) {
  const std::string key = RawGguf::key("some.key", GGUF_TYPE_BOOL, "\x01");
  EXPECT_THAT(complaint(RawGguf{.keys = {key, key}}), HasSubstr("key 'some.key': given twice"));
  EXPECT_THAT(complaint(RawGguf{.tensors = {{.name = "t"}, {.name = "t", .offset = 32}}, .data = 64}),
              HasSubstr("tensor 't': given twice"));
}

TEST_F(GgufReader, Names) {
  EXPECT_THAT(complaint(RawGguf{.keys = {RawGguf::key("", GGUF_TYPE_BOOL, "\x01")}}),
              HasSubstr("key 1 of 1: its name has 0 bytes"));
  EXPECT_THAT(complaint_about_tensor({.name = ""}), HasSubstr("tensor 1 of 1: its name has 0 bytes, expected 1 to 63"));
  EXPECT_THAT(complaint_about_tensor({.name = std::string(64, 'x')}), HasSubstr("64 bytes"));
  EXPECT_EQ(complaint_about_tensor({.name = std::string(63, 'x')}), "");
}

TEST_F(GgufReader, Shapes) {
  EXPECT_THAT(complaint_about_tensor({.shape = {}}), HasSubstr("tensor 't': expected 1 to 4 dimensions, got 0"));
  EXPECT_THAT(complaint_about_tensor({.shape = {1, 1, 1, 1, 1}}), HasSubstr("got 5"));
  EXPECT_THAT(complaint_about_tensor({.shape = {4, 0}}), HasSubstr("tensor 't': dimension 1 is 0"));
  EXPECT_THAT(complaint_about_tensor({.shape = {1ull << 32, 1ull << 32}}), HasSubstr("more than 2^63"));
  EXPECT_THAT(complaint_about_tensor({.shape = {1ull << 62}}), HasSubstr("more than 2^63"));  // in bytes
  EXPECT_THAT(complaint_about_tensor({.shape = {~0ull}}), HasSubstr("more than 2^63"));
  EXPECT_EQ(complaint_about_tensor({.shape = {2, 2, 2, 2}}), "");
}

TEST_F(GgufReader, Types) {
  EXPECT_THAT(complaint_about_tensor({.type = 4}), HasSubstr("tensor 't': its type 4 is unknown"));  // q4_2 of old
  EXPECT_THAT(complaint_about_tensor({.type = GGML_TYPE_COUNT}), HasSubstr("is unknown"));
  EXPECT_THAT(complaint_about_tensor({.type = ~0u}), HasSubstr("its type 4294967295 is unknown"));
  EXPECT_THAT(complaint_about_tensor({.shape = {33}, .type = GGML_TYPE_Q8_0}),
              HasSubstr("tensor 't': rows of 33 do not divide into blocks of 32 of type q8_0"));
}

TEST_F(GgufReader, Offsets) {
  EXPECT_THAT(complaint_about_tensor({.offset = 8}), HasSubstr("tensor 't': its offset 8 is not a multiple of 32"));
  EXPECT_THAT(complaint_about_tensor({.shape = {5}}, 16),
              HasSubstr("tensor 't': needs 20 bytes at offset 0 of the data, which has 16"));
  EXPECT_THAT(complaint_about_tensor({.offset = 64}, 64), HasSubstr("needs 16 bytes at offset 64"));
  EXPECT_THAT(complaint_about_tensor({.offset = ~0ull - 31}), HasSubstr("needs 16 bytes at offset"));
  EXPECT_THAT(complaint_about_tensor({}, 0), HasSubstr("of the data, which has 0"));
  EXPECT_THAT(complaint(RawGguf{.tensors = {{.name = "a", .shape = {9}}, {.name = "b", .offset = 32}}, .data = 64}),
              HasSubstr("tensor 'b': shares bytes with tensor 'a'"));
  EXPECT_THAT(complaint(RawGguf{.tensors = {{.name = "a"}, {.name = "b"}}, .data = 64}), HasSubstr("shares bytes"));
}

TEST_F(GgufReader, TensorsMayLieInAnyOrder) {
  const auto path =
      scratch.file("model.gguf", RawGguf{.tensors = {{.name = "b", .offset = 32}, {.name = "a"}}, .data = 48}.bytes());
  const auto file = Gguf::open(path);
  EXPECT_EQ(file->find("b")->bytes.data() - file->find("a")->bytes.data(), 32);
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST_F(GgufReader, Alignment) {
  const auto with = [&](std::uint32_t alignment, std::uint64_t offset) {
    return complaint(RawGguf{.keys = {RawGguf::key("general.alignment", GGUF_TYPE_UINT32, n(alignment))},
                             .tensors = {{.offset = offset}},
                             .data = 64});
  };
  EXPECT_EQ(with(8, 8), "");
  EXPECT_EQ(with(32, 32), "");
  EXPECT_THAT(with(16, 8), HasSubstr("not a multiple of 16"));
  EXPECT_THAT(with(0, 0), HasSubstr("key 'general.alignment': expected a power of two up to 2^20, got 0"));
  EXPECT_THAT(with(24, 0), HasSubstr("got 24"));
  EXPECT_THAT(with(1u << 31, 0), HasSubstr("got 2147483648"));
  EXPECT_THAT(complaint(RawGguf{.keys = {RawGguf::key("general.alignment", GGUF_TYPE_BOOL, "\x01")}}),
              HasSubstr("expected an integer"));
}

TEST_F(GgufReader, PartsOfAModel) {
  EXPECT_THAT(complaint(RawGguf{.keys = {RawGguf::key("split.count", GGUF_TYPE_UINT16, n<std::uint16_t>(3))}}),
              AllOf(HasSubstr("one of 3 parts"), HasSubstr("llama-gguf-split --merge")));
  EXPECT_EQ(complaint(RawGguf{.keys = {RawGguf::key("split.count", GGUF_TYPE_UINT16, n<std::uint16_t>(1))}}), "");
}

TEST_F(GgufReader, ValuesOfAllWidths) {
  RawGguf raw;
  raw.keys = {RawGguf::key("u8", GGUF_TYPE_UINT8, n<std::uint8_t>(200)),
              RawGguf::key("i8", GGUF_TYPE_INT8, n<std::int8_t>(-5)),
              RawGguf::key("u16", GGUF_TYPE_UINT16, n<std::uint16_t>(60000)),
              RawGguf::key("i16", GGUF_TYPE_INT16, n<std::int16_t>(-6)),
              RawGguf::key("u32", GGUF_TYPE_UINT32, n<std::uint32_t>(4000000000u)),
              RawGguf::key("i32", GGUF_TYPE_INT32, n<std::int32_t>(-7)),
              RawGguf::key("u64", GGUF_TYPE_UINT64, n<std::uint64_t>(1ull << 40)),
              RawGguf::key("i64", GGUF_TYPE_INT64, n<std::int64_t>(std::numeric_limits<std::int64_t>::min())),
              RawGguf::key("f32", GGUF_TYPE_FLOAT32, n(0.5f)),
              RawGguf::key("f64", GGUF_TYPE_FLOAT64, n(0.1)),
              RawGguf::key("bool", GGUF_TYPE_BOOL, n<std::uint8_t>(1)),
              RawGguf::key("text", GGUF_TYPE_STRING, RawGguf::text("word"))};
  const auto file = Gguf::open(scratch.file("model.gguf", raw.bytes()));
  EXPECT_EQ(file->require<std::int64_t>("u8"), 200);
  EXPECT_EQ(file->require<std::int64_t>("i8"), -5);
  EXPECT_EQ(file->require<std::int64_t>("u16"), 60000);
  EXPECT_EQ(file->require<std::int64_t>("i16"), -6);
  EXPECT_EQ(file->require<std::int64_t>("u32"), 4000000000);
  EXPECT_EQ(file->require<std::int64_t>("i32"), -7);
  EXPECT_EQ(file->require<std::int64_t>("u64"), std::int64_t{1} << 40);
  EXPECT_EQ(file->require<std::int64_t>("i64"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(file->require<double>("f32"), 0.5);
  EXPECT_EQ(file->require<double>("f64"), 0.1);
  EXPECT_EQ(file->require<double>("i8"), -5.0);  // an integer will do
  EXPECT_TRUE(file->require<bool>("bool"));
  EXPECT_EQ(file->require<std::string>("text"), "word");
}

TEST_F(GgufReader, AskingForTheWrongThing) {
  const auto path = scratch.file("model.gguf", RawGguf{.keys = {RawGguf::key("b", GGUF_TYPE_BOOL, "\x01")}}.bytes());
  const auto file = Gguf::open(path);
  EXPECT_EQ(file->get<std::string>("absent"), std::nullopt);
  const auto complaint_of = [&](auto ask) -> std::string {
    try {
      ask();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_model);
      return error.what();
    }
  };
  EXPECT_THAT(complaint_of([&] { (void)file->get<std::int64_t>("b"); }),
              StrEq(path.string() + ": key 'b': expected an integer, got a boolean"));
  EXPECT_THAT(complaint_of([&] { (void)file->require<std::vector<std::string>>("absent"); }),
              StrEq(path.string() + ": key 'absent' is missing, expected an array of strings"));
}

}  // namespace
}  // namespace pgdlm
