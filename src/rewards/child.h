// A child process that is spoken to in lines. Owned by whoever talks to it; one thread. Whoever kills this process
// leaves the child with a closed standard input, at which a program that answers questions ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace pgdlm {

class Child {
 public:
  explicit Child(const std::string& command);  // by /bin/sh -c; Error{exhausted} if it cannot be started
  ~Child();                                    // ends it and its group
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Outcome { answered, ended, late, talkative };  // talkative: it said what nobody asked
  // Sends a line and waits for one; `answer` is it, without its end.
  Outcome ask(const std::string& line, std::string& answer, std::chrono::milliseconds patience);

 private:
  bool listen();  // reads what there is; false at the end

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string heard_;  // since it was asked
};

}  // namespace pgdlm
