// Requests to one HTTP server, over a connection that stays open between them. Owned by whoever talks; one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace pgdlm {

class HttpClient {
 public:
  explicit HttpClient(std::chrono::milliseconds patience);  // for one answer
  ~HttpClient();

  // The body of the answer. Error{invalid_request} names the URL if nobody answers in time, or not with 200.
  std::string get(const std::string& url);
  std::string post_json(const std::string& url, const std::string& body);

 private:
  struct Handle;
  std::string perform(const std::string& url, const std::string* body);

  std::unique_ptr<Handle> handle_;
  std::chrono::milliseconds patience_;
};

}  // namespace pgdlm
