// What a conformance check has found so far: each kind of violation once, with its first case.
#pragma once

#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pgdlm {

class Findings {
 public:
  // `kind` is the sentence of the contract, `found` the case that breaks it.
  void add(const std::string& kind, const std::string& found) {
    if (kinds_.insert(kind).second) texts_.push_back(kind + ": " + found);
  }
  void require(bool holds, const std::string& kind, const std::string& found) {
    if (!holds) add(kind, found);
  }

  // Runs one part of a check. What the plugin throws ends that part only.
  template <class Part>
  void guard(const std::string& who, Part&& part) {
    try {
      part();
    } catch (const std::exception& e) {
      add(who + " must not throw on valid input", e.what());
    }
  }

  std::size_t size() const { return texts_.size(); }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::set<std::string> kinds_;
  std::vector<std::string> texts_;
};

}  // namespace pgdlm
