// Many requests through a store: in company, interrupted, failing. Bytes are those of each request alone.
#include "eval/runner.h"

#include <gmock/gmock.h>

#include "kit/scratch.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::HasSubstr;

struct RunnerOnToy : testing::Test {
  std::vector<GenerateOptions> items(Runner& runner, int count) {
    std::vector<GenerateOptions> all;
    GenerateOptions item;
    item.prompt = "the movie";
    item.reward = "positive";
    item.n_predict = 8;
    item.particles = 3;
    item.iterations = 2;
    for (int i = 0; i < count; ++i) {
      item.method = i % 2 == 0 ? Method::smc : Method::particle_gibbs;
      item.seed = static_cast<std::uint64_t>(i / 2);
      all.push_back(runner.settled(item));
    }
    return all;
  }
  // Runs what is missing; stops after `most` further items, if that is not negative.
  std::map<int, std::string> run(const std::string& name, int count, int most = -1, int threads = 2) {
    RunStore store(folder / name, RunStore::Access::write);
    const StoredRun stored = store.begin("test", "{}", count);
    Runner runner({.threads = threads});
    std::stop_source stop;
    const std::size_t before = static_cast<std::size_t>(stored.done);
    runner.run(
        {{stored, items(runner, count)}}, store,
        [&](std::size_t done, std::size_t) {
          if (most >= 0 && done >= before + static_cast<std::size_t>(most)) stop.request_stop();
        },
        stop.get_token());
    std::map<int, std::string> results;
    for (const auto& [number, item] : store.items(stored)) results[number] = item.result;
    return results;
  }

  const Scratch folder{"runner"};
};

TEST_F(RunnerOnToy, CompanyChangesNothing) {
  const auto together = run("together.db", 12);
  ASSERT_EQ(together.size(), 12U);
  EXPECT_EQ(run("one-thread.db", 12, -1, 1), together);
  std::map<int, std::string> bit_by_bit;
  for (int i = 0; i < 40 && bit_by_bit.size() < 12; ++i) bit_by_bit = run("bit-by-bit.db", 12, 1);
  EXPECT_EQ(bit_by_bit, together);
  EXPECT_EQ(run("together.db", 12), together);  // nothing is left to do
}

// One by one: the item that cannot be scored comes when others have been finished.
TEST_F(RunnerOnToy, AnErrorLosesNothing) {
  constexpr int kBad = 60;  // behind those that are begun at once
  RunStore store(folder / "failing.db", RunStore::Access::write);
  const StoredRun stored = store.begin("test", "{}", 64);
  Runner runner({.threads = 2});
  std::vector<GenerateOptions> broken = items(runner, 64);
  broken[kBad].reward = "exec:exit 1";
  try {
    runner.run({{stored, broken}}, store, [](std::size_t, std::size_t) {}, {});
    FAIL() << "item 60 cannot be scored";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("exec:exit 1"));
  }
  const auto kept = store.items(stored);
  EXPECT_GE(kept.size(), 20U);
  EXPECT_FALSE(kept.contains(kBad));
  runner.run({{stored, items(runner, 64)}}, store, [](std::size_t, std::size_t) {}, {});
  const auto all = store.items(stored);
  EXPECT_EQ(all.size(), 64U);
  for (const auto& [number, item] : kept) EXPECT_EQ(all.at(number).result, item.result);
}

TEST_F(RunnerOnToy, ABadItemEndsTheRun) {
  RunStore store(folder / "bad.db", RunStore::Access::write);
  const StoredRun stored = store.begin("test", "{}", 64);
  Runner runner({.threads = 2});
  for (const int bad : {3, 60}) {  // among the first that are begun, and later
    std::vector<GenerateOptions> all = items(runner, 64);
    all[bad].prompt = "xyzzy";
    EXPECT_THROW(runner.run({{stored, all}}, store, [](std::size_t, std::size_t) {}, {}), Error);
    EXPECT_LT(store.items(stored).size(), 63U) << "no more is begun";
  }
}

}  // namespace
}  // namespace pgdlm
