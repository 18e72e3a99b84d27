// Where finished work is kept: a SQLite file. A run is known by its plan, so the same command finds what it has done
// before. Every result is durable as soon as `add` returns, whatever happens to the process afterwards. Results do not
// depend on the machine or on interruptions; what does (seconds, forwards that company saved) is in a table of its own.
//
// One process writes at a time, any number may read meanwhile. Owned by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pgdlm {

struct StoredRun {
  std::int64_t id = 0;
  std::string name;  // math, control, ...
  std::string plan;  // JSON: all that its results depend on
  int items = 0;     // so many belong to it
  int done = 0;
  std::string begun;  // date and time, UTC
};

// What of an item differs from one day to another.
struct Effort {
  double seconds = 0;
  std::int64_t forwards_run = 0, rewards_run = 0;
};

struct StoredItem {
  std::string result;  // JSON
  Effort effort;
};

class RunStore {
 public:
  enum class Access { read, write };  // write: creates the file and keeps other writers out

  // Error{invalid_request} for a file that is none of ours, of another version, or held by another writer.
  RunStore(const std::filesystem::path& file, Access access);
  ~RunStore();

  StoredRun begin(const std::string& name, const std::string& plan, int items);  // found, or new
  void add(const StoredRun& run, int number, const StoredItem& item);            // Error{exhausted} if the disk is full

  std::vector<StoredRun> runs() const;  // oldest first
  std::map<int, StoredItem> items(const StoredRun& run) const;

 private:
  struct Database;
  std::unique_ptr<Database> db_;
};

}  // namespace pgdlm
