// A child process that is spoken to in lines. Owned by whoever talks to it; one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace pgdlm {

class Child {
 public:
  explicit Child(const std::string& command);  // by /bin/sh -c; Error{exhausted} if it cannot be started
  ~Child();                                    // ends it, and all it has started
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Outcome { answered, ended, late };
  // Sends a line and waits for one; `answer` is it, without its end.
  Outcome ask(const std::string& line, std::string& answer, std::chrono::milliseconds patience);

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string unread_;
};

}  // namespace pgdlm
