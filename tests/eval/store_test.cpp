// The run store: what was added is there, also for a process that was killed; other files are refused.
#include "eval/store.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "kit/scratch.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Store : testing::Test {
  std::string refused(const std::filesystem::path& path, RunStore::Access access) {
    try {
      RunStore store(path, access);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  static void sql(const std::filesystem::path& path, const char* text) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }

  const Scratch folder{"store"};
  const std::filesystem::path file = folder / "runs.db";
};

TEST_F(Store, ARunIsKnownByItsPlan) {
  RunStore store(file, RunStore::Access::write);
  const StoredRun one = store.begin("math", R"({"n": 1})", 3);
  const StoredRun two = store.begin("math", R"({"n": 2})", 3);
  EXPECT_NE(one.id, two.id);
  EXPECT_EQ(store.begin("math", R"({"n": 1})", 3).id, one.id);
  const std::string bytes("a\0b\xff", 4);
  store.add(one, 2, {bytes, {.seconds = 0.5, .forwards_run = 7, .rewards_run = 8}});
  store.add(one, 0, {"{}", {}});
  EXPECT_THROW(store.add(one, 0, {"{}", {}}), Error);  // a result never changes
  const auto items = store.items(one);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items.at(2).result, bytes);
  EXPECT_EQ(items.at(2).effort.forwards_run, 7);
  EXPECT_EQ(items.at(2).effort.seconds, 0.5);
  EXPECT_TRUE(store.items(two).empty());
  EXPECT_EQ(store.runs().at(0).done, 2);
  EXPECT_EQ(store.runs().at(1).items, 3);
}

TEST_F(Store, OneWriterManyReaders) {
  RunStore writer(file, RunStore::Access::write);
  const StoredRun run = writer.begin("math", "{}", 1);
  const RunStore reader(file, RunStore::Access::read);
  EXPECT_THAT(refused(file, RunStore::Access::write), HasSubstr("is being written by another pgdlm"));
  writer.add(run, 0, {"{}", {}});
  EXPECT_EQ(reader.runs().at(0).done, 1);
  std::filesystem::create_symlink(file, folder / "other-name.db");
  EXPECT_THAT(refused(folder / "other-name.db", RunStore::Access::write),
              HasSubstr("is being written by another pgdlm"));
}

TEST_F(Store, SurvivesAKill) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      RunStore store(file, RunStore::Access::write);
      const StoredRun run = store.begin("math", "{}", 1'000'000);
      for (int i = 0; i < 1'000'000; ++i) store.add(run, i, {std::to_string(i), {}});
    } catch (...) {
    }
    _exit(1);
  }
  // No clock: it is killed once it has stored something.
  int done = 0;
  while (done < 5) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it ended by itself";
    try {
      const std::vector<StoredRun> runs = RunStore(file, RunStore::Access::read).runs();
      done = runs.empty() ? 0 : runs[0].done;
    } catch (const Error&) {  // not there yet
    }
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  RunStore store(file, RunStore::Access::write);
  const StoredRun run = store.begin("math", "{}", 1'000'000);
  EXPECT_GE(run.done, done);
  const auto items = store.items(run);
  int next = 0;
  for (const auto& [number, item] : items) {
    EXPECT_EQ(number, next++);
    EXPECT_EQ(item.result, std::to_string(number));
  }
  store.add(run, next, {"more", {}});
}

TEST_F(Store, OtherFilesAreRefused) {
  EXPECT_THAT(refused("", RunStore::Access::write), HasSubstr("store is ''"));
  EXPECT_THAT(refused(file, RunStore::Access::read), HasSubstr("there is no file"));
  EXPECT_THAT(refused(folder / "none" / "runs.db", RunStore::Access::write), HasSubstr("runs.db.lock': No such file"));
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  EXPECT_THAT(refused(folder / "text.db", RunStore::Access::write), HasSubstr("is not a run store"));
  sql(folder / "other.db", "CREATE TABLE t (x)");
  EXPECT_THAT(refused(folder / "other.db", RunStore::Access::write), HasSubstr("a database of another program"));
  { RunStore store(file, RunStore::Access::write); }
  sql(file, "PRAGMA user_version = 9");
  EXPECT_THAT(refused(file, RunStore::Access::write), HasSubstr("has version 9, expected 2"));
}

TEST_F(Store, AFullDiskLosesNothing) {
  RunStore store(file, RunStore::Access::write);
  const StoredRun run = store.begin("math", "{}", 2);
  store.add(run, 0, {"kept", {}});
  const rlimit before = [] {
    rlimit now{};
    getrlimit(RLIMIT_FSIZE, &now);
    return now;
  }();
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow stands for a disk that is full
  const rlimit small = {.rlim_cur = 1 << 17, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  try {
    store.add(run, 1, {std::string(1 << 20, 'x'), {}});
    ADD_FAILURE() << "there is no room for it";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::exhausted);
    EXPECT_THAT(e.what(), HasSubstr("cannot be written"));
    EXPECT_THAT(e.what(), Not(HasSubstr("not an error")));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(store.items(run).size(), 1U);
  store.add(run, 1, {"more", {}});
  EXPECT_EQ(store.items(run).at(1).result, "more");
}

}  // namespace
}  // namespace pgdlm
