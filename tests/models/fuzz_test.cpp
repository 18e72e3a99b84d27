// Damaged model files, all the way through: 10,000 flipped or cut places in the tiny models. Each is refused with an
// Error, or loads and runs; under the sanitizers nothing else may happen.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "models/fixture.h"
#include "models/step_scorer.h"
#include "pgdlm/error.h"
#include "text/tokenizer.h"

namespace pgdlm {
namespace {

constexpr int kPlacesPerModel = 1250;  // eight models

// Everything a user of the file would do. True if it worked.
bool survives(const std::filesystem::path& path) {
  try {
    const auto model = Model::load(path, {.device = {.threads = 1}});
    const std::vector<std::vector<Token>> rows = {{1, 2, 3}, {4}};
    raw_outputs(*model, rows);
    const auto tokenizer = Tokenizer::make(read_vocabulary(*model->file()));
    tokenizer->decode(tokenizer->encode("A film, 12 times.", {.add_special = true, .parse_special = true}));
    return true;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()), "");
    EXPECT_NE(e.code(), ErrorCode::internal) << e.what();
    return false;
  }
}

class EachModel : public testing::TestWithParam<std::string> {};

TEST_P(EachModel, NoDamagedPlaceIsMoreThanAnError) {
  std::ifstream in(tiny(GetParam()), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::filesystem::path path = scratch() / (GetParam() + "-damaged.gguf");
  std::ofstream(path, std::ios::binary) << whole;
  const std::size_t header =
      whole.find("output_norm") == std::string::npos ? whole.size() / 3 : whole.find("output_norm");

  std::mt19937 random(17);
  const int file = open(path.c_str(), O_RDWR);
  int worked = 0;
  for (int i = 0; i < kPlacesPerModel; ++i) {
    const bool cut = i % 25 == 0, in_header = i % 5 != 0;
    const std::size_t at = random() % (in_header ? std::min(whole.size(), header + 4096) : whole.size());
    if (cut) {
      ASSERT_EQ(ftruncate(file, static_cast<off_t>(at)), 0);
    } else {
      const char flipped =
          static_cast<char>(i % 2 == 0 ? whole[at] ^ (1 << random() % 8) : static_cast<int>(random() % 256));
      ASSERT_EQ(pwrite(file, &flipped, 1, static_cast<off_t>(at)), 1);
    }
    worked += survives(path) ? 1 : 0;
    const std::size_t count = cut ? whole.size() - at : 1;
    ASSERT_EQ(pwrite(file, whole.data() + at, count, static_cast<off_t>(at)), static_cast<ssize_t>(count));
  }
  EXPECT_TRUE(survives(path));  // what was mended is whole again
  EXPECT_GT(worked, 0);         // a changed weight is no damage anybody could see
  close(file);
}

INSTANTIATE_TEST_SUITE_P(Models, EachModel,
                         testing::Values("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask",
                                         "bert-classifier", "roberta-classifier", "qwen2-prm"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace pgdlm
