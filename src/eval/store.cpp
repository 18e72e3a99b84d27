#include "eval/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr int kApplication = 0x7067646c;  // "pgdl": tells our files from others
constexpr int kVersion = 2;
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
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    if (descriptor_ < 0 || error != EWOULDBLOCK)
      throw Error(ErrorCode::invalid_request, fmt::format("store: '{}': {}", path_, std::strerror(error)),
                  "choose another place with --store FILE");
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

// One file has one name, however it is spelled: so it has one lock.
std::filesystem::path place_of(const std::filesystem::path& file) {
  if (file.empty())
    throw Error(ErrorCode::invalid_request, "store is '', expected a file", "name one: --store runs.db");
  std::error_code failed;
  std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(file), failed);
  return failed ? std::filesystem::absolute(file) : place;
}

// In a URI, '?', '#' and '%' mean something else.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return out;
}

// Before anything is written beside a file that is not ours.
void check_kind(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string begins(16, '\0');
  if (!in || !in.read(begins.data(), 16)) return;  // new, or shorter than any database
  if (begins != std::string("SQLite format 3\0", 16))
    throw Error(ErrorCode::invalid_request, fmt::format("store: '{}' is not a run store", file.string()),
                "name another file with --store FILE");
}

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

  void open(Access access) {
    // Reading a database in WAL mode needs the right to write beside it. Without that right, one that nobody is
    // writing can still be read as it lies.
    const bool frozen = access == Access::read && ::access(file.parent_path().c_str(), W_OK) != 0 &&
                        !std::filesystem::exists(file.string() + "-wal");
    const std::string uri = fmt::format("file:{}?immutable=1", escaped(file.string()));
    const int flags = (frozen ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) |
                      (access == Access::write ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(frozen ? uri.c_str() : file.c_str(), &handle, flags, nullptr);
    if (code != SQLITE_OK) fail(code);
    sqlite3_busy_timeout(handle, kPatienceMs);
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

constexpr const char* kSelectRuns =
    "SELECT id, name, plan, items, begun, (SELECT count(*) FROM results WHERE run = id) FROM runs";
StoredRun row_of(const Statement& selected) {
  return {.id = selected.integer(0),
          .name = selected.text(1),
          .plan = selected.text(2),
          .items = static_cast<int>(selected.integer(3)),
          .done = static_cast<int>(selected.integer(5)),
          .begun = selected.text(4)};
}

// Takes back what was not committed.
class Transaction {
 public:
  explicit Transaction(sqlite3* handle) : handle_(handle) {}
  ~Transaction() {
    if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

 private:
  sqlite3* handle_;
};

}  // namespace

RunStore::RunStore(const std::filesystem::path& given, Access access) : db_(std::make_unique<Database>()) {
  const std::filesystem::path file = place_of(given);
  std::error_code ignored;
  if (access == Access::read && !std::filesystem::exists(file, ignored))
    throw Error(ErrorCode::invalid_request, fmt::format("store: there is no file '{}'", given.string()),
                "pgdlm eval writes one; name it with --store FILE");
  check_kind(file);
  db_->file = file;
  if (access == Access::write) db_->lock = std::make_unique<WriterLock>(file);
  db_->open(access);
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
  Statement select(db_->handle, fmt::format("{} WHERE name = ? AND plan = ?", kSelectRuns).c_str());
  if (!select.bind(name).bind(plan).step()) db_->fail(select.code());
  return row_of(select);
}

void RunStore::add(const StoredRun& run, int number, const StoredItem& item) {
  const Transaction transaction(db_->handle);
  db_->run("BEGIN IMMEDIATE");
  Statement result(db_->handle, "INSERT INTO results (run, number, result) VALUES (?, ?, ?)");
  result.bind(run.id).bind(std::int64_t{number}).bind(item.result).step();
  if (!result.good()) db_->fail(result.code());
  Statement effort(db_->handle,
                   "INSERT INTO efforts (run, number, seconds, forwards_run, rewards_run) VALUES (?, ?, ?, ?, ?)");
  const auto& [seconds, forwards, rewards] = item.effort;
  effort.bind(run.id).bind(std::int64_t{number}).bind(seconds).bind(forwards).bind(rewards).step();
  if (!effort.good()) db_->fail(effort.code());
  db_->run("COMMIT");
}

std::vector<StoredRun> RunStore::runs() const {
  Statement select(db_->handle, fmt::format("{} ORDER BY id", kSelectRuns).c_str());
  std::vector<StoredRun> found;
  while (select.step()) found.push_back(row_of(select));
  if (!select.good()) db_->fail(select.code());
  return found;
}

std::map<int, StoredItem> RunStore::items(const StoredRun& run) const {
  Statement select(db_->handle,
                   "SELECT number, result, seconds, forwards_run, rewards_run FROM results NATURAL JOIN efforts "
                   "WHERE run = ? ORDER BY number");
  select.bind(run.id);
  std::map<int, StoredItem> found;
  while (select.step()) {
    const std::int64_t number = select.integer(0);
    if (number < 0 || number >= run.items)
      throw Error(ErrorCode::invalid_request, fmt::format("run {} has no text {}", run.id, number));
    found[static_cast<int>(number)] = {
        .result = select.text(1),
        .effort = {.seconds = select.real(2), .forwards_run = select.integer(3), .rewards_run = select.integer(4)}};
  }
  if (!select.good()) db_->fail(select.code());
  return found;
}

}  // namespace pgdlm
