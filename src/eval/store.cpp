#include "eval/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr int kApplication = 0x7067646c;  // "pgdl": tells our files from others
constexpr int kVersion = 1;
constexpr int kPatienceMs = 5000;  // for a reader's or a backup's short lock

constexpr const char* kTables = R"(
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL, items INTEGER NOT NULL,
    begun TEXT NOT NULL DEFAULT (datetime('now')), UNIQUE (name, plan)) STRICT;
  CREATE TABLE results (
    run INTEGER NOT NULL REFERENCES runs, number INTEGER NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (run, number)) STRICT, WITHOUT ROWID;
  CREATE TABLE efforts (
    run INTEGER NOT NULL, number INTEGER NOT NULL, seconds REAL NOT NULL, forwards_run INTEGER NOT NULL,
    rewards_run INTEGER NOT NULL, finished TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (run, number), FOREIGN KEY (run, number) REFERENCES results) STRICT, WITHOUT ROWID;
)";

// A lock that the kernel takes back from a process that was killed.
class WriterLock {
 public:
  explicit WriterLock(const std::filesystem::path& store) : path_(store.string() + ".lock") {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
      throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' cannot be written", path_),
                  "choose another place with --store FILE");
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    close(descriptor_);
    throw Error(ErrorCode::invalid_request,
                fmt::format("store: '{}' is being written by another pgdlm", store.string()),
                "wait until it is done, or give this run a file of its own with --store FILE");
  }
  ~WriterLock() { close(descriptor_); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

struct RunStore::Database {
  std::filesystem::path file;
  std::unique_ptr<WriterLock> lock;
  sqlite3* handle = nullptr;

  ~Database() { sqlite3_close(handle); }

  [[noreturn]] void fail(int code) const {
    const std::string what = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    switch (code & 0xff) {
      case SQLITE_FULL:
      case SQLITE_IOERR:
        throw Error(ErrorCode::exhausted, fmt::format("store: '{}' cannot be written: {}", file.string(), what),
                    "free some space and run the same command again: what is finished is kept");
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' is not a run store: {}", file.string(), what),
                    "name another file with --store FILE");
      case SQLITE_BUSY:
        throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' is locked by another program", file.string()),
                    "close what has it open, or name another file with --store FILE");
      default:
        throw Error(ErrorCode::invalid_request, fmt::format("store: '{}': {}", file.string(), what),
                    "name another file with --store FILE");
    }
  }

  void run(const char* sql) {
    if (const int code = sqlite3_exec(handle, sql, nullptr, nullptr, nullptr); code != SQLITE_OK) fail(code);
  }
};

namespace {

// One prepared question: values in, rows out.
class Statement {
 public:
  Statement(sqlite3* handle, const char* sql) : code_(sqlite3_prepare_v2(handle, sql, -1, &statement_, nullptr)) {}
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value) {
    note(sqlite3_bind_int64(statement_, ++bound_, value));
    return *this;
  }
  Statement& bind(double value) {
    note(sqlite3_bind_double(statement_, ++bound_, value));
    return *this;
  }
  Statement& bind(const std::string& value) {
    note(sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
  }
  // The next row; false after the last one, or if something went wrong: see code().
  bool step() {
    if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
    code_ = sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  bool good() const { return code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE; }
  int code() const { return code_; }

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr ? ""
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  void note(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }

  sqlite3_stmt* statement_ = nullptr;
  int code_;
  int bound_ = 0;
};

}  // namespace

RunStore::RunStore(const std::filesystem::path& file, Access access) : db_(std::make_unique<Database>()) {
  db_->file = file;
  if (access == Access::write) db_->lock = std::make_unique<WriterLock>(file);
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
  if (const int code = sqlite3_open_v2(file.c_str(), &db_->handle, flags, nullptr); code != SQLITE_OK) {
    if (access == Access::read && !std::filesystem::exists(file))
      throw Error(ErrorCode::invalid_request, fmt::format("store: there is no file '{}'", file.string()),
                  "pgdlm eval and pgdlm study write one; name it with --store FILE");
    db_->fail(code);
  }
  sqlite3_busy_timeout(db_->handle, kPatienceMs);
  const auto number = [this](const char* pragma) {
    Statement statement(db_->handle, pragma);
    if (!statement.step()) db_->fail(statement.code());
    return statement.integer(0);
  };
  const std::int64_t tables = number("SELECT count(*) FROM sqlite_master");
  const std::int64_t application = number("PRAGMA application_id"), version = number("PRAGMA user_version");
  if (tables > 0 && application != kApplication)
    throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' is a database of another program", file.string()),
                "name another file with --store FILE");
  if (tables > 0 && version != kVersion)
    throw Error(ErrorCode::invalid_request,
                fmt::format("store: '{}' has version {}, expected {}", file.string(), version, kVersion),
                "it was written by another version of pgdlm; name another file with --store FILE");
  if (tables == 0 && access == Access::read)
    throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' is empty", file.string()));
  if (access == Access::read) return;
  db_->run("PRAGMA journal_mode = WAL");
  db_->run("PRAGMA synchronous = FULL");  // a commit survives a power cut
  db_->run("PRAGMA foreign_keys = ON");
  if (tables > 0) return;
  // All or nothing: a file that was killed here is empty, not strange.
  db_->run(fmt::format("BEGIN; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", kTables, kApplication,
                       kVersion)
               .c_str());
}

RunStore::~RunStore() = default;

StoredRun RunStore::begin(const std::string& name, const std::string& plan, int items) {
  Statement insert(db_->handle, "INSERT INTO runs (name, plan, items) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  insert.bind(name).bind(plan).bind(std::int64_t{items}).step();
  if (!insert.good()) db_->fail(insert.code());
  for (StoredRun& run : runs())
    if (run.name == name && run.plan == plan) return std::move(run);
  throw Error(ErrorCode::internal, "a run that was just stored is not there");
}

void RunStore::add(const StoredRun& run, int number, const StoredItem& item) {
  db_->run("BEGIN IMMEDIATE");
  Statement result(db_->handle, "INSERT INTO results (run, number, result) VALUES (?, ?, ?)");
  result.bind(run.id).bind(std::int64_t{number}).bind(item.result).step();
  Statement effort(db_->handle,
                   "INSERT INTO efforts (run, number, seconds, forwards_run, rewards_run) VALUES (?, ?, ?, ?, ?)");
  if (result.good())
    effort.bind(run.id)
        .bind(std::int64_t{number})
        .bind(item.effort.seconds)
        .bind(item.effort.forwards_run)
        .bind(item.effort.rewards_run)
        .step();
  const int code = !result.good() ? result.code() : effort.good() ? SQLITE_OK : effort.code();
  if (code != SQLITE_OK) {
    sqlite3_exec(db_->handle, "ROLLBACK", nullptr, nullptr, nullptr);
    db_->fail(code);
  }
  db_->run("COMMIT");
}

std::vector<StoredRun> RunStore::runs() const {
  Statement select(db_->handle,
                   "SELECT id, name, plan, items, begun, (SELECT count(*) FROM results WHERE run = id) "
                   "FROM runs ORDER BY id");
  std::vector<StoredRun> found;
  while (select.step())
    found.push_back({.id = select.integer(0),
                     .name = select.text(1),
                     .plan = select.text(2),
                     .items = static_cast<int>(select.integer(3)),
                     .done = static_cast<int>(select.integer(5)),
                     .begun = select.text(4)});
  if (!select.good()) db_->fail(select.code());
  return found;
}

std::map<int, StoredItem> RunStore::items(const StoredRun& run) const {
  Statement select(db_->handle,
                   "SELECT number, result, seconds, forwards_run, rewards_run FROM results NATURAL JOIN efforts "
                   "WHERE run = ? ORDER BY number");
  select.bind(run.id);
  std::map<int, StoredItem> found;
  while (select.step())
    found[static_cast<int>(select.integer(0))] = {
        .result = select.text(1),
        .effort = {.seconds = select.real(2), .forwards_run = select.integer(3), .rewards_run = select.integer(4)}};
  if (!select.good()) db_->fail(select.code());
  return found;
}

}  // namespace pgdlm
