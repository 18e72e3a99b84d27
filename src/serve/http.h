// HTTP/1.1 as bytes. A request is read piece by piece, in whatever pieces it comes; what is wrong with it is an
// HttpError. Pure: no sockets, no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pgdlm::serve {

struct HttpError {
  int status = 400;
  std::string message;
};

struct HttpRequest {
  std::string method;
  std::string path;                            // decoded, without the query
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined by ", "
  std::string body;
  bool keep_alive = true;
  bool http_1_0 = false;  // no chunks for this one

  std::string header(const std::string& name) const {  // empty: there is none
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct HttpLimits {
  std::size_t head_bytes = std::size_t{32} << 10;
  std::size_t body_bytes = std::size_t{8} << 20;
};

// One request, from its first byte to its last.
class RequestReader {
 public:
  explicit RequestReader(HttpLimits limits) : limits_(limits) {}

  // Takes what belongs to this request from the front and says how many bytes that was. HttpError if it is none.
  std::size_t feed(std::string_view bytes);

  bool begun() const { return begun_; }
  bool done() const { return stage_ == Stage::done; }
  // Once: the head is here, and its sender waits for a "100 Continue" before the body.
  bool wants_continue() { return std::exchange(wants_continue_, false); }
  HttpRequest take() { return std::move(request_); }

 private:
  enum class Stage { head, body, chunk_size, chunk, chunk_end, trailer, done };

  std::size_t feed_line(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  void on_line(std::string_view line);
  void on_request_line(std::string_view line);
  void on_header(std::string_view line);
  void on_head_end();
  void on_chunk_size(std::string_view line);

  HttpLimits limits_;
  Stage stage_ = Stage::head;
  bool begun_ = false, wants_continue_ = false, first_line_ = true;
  std::string line_;            // not yet ended
  std::size_t head_bytes_ = 0;  // lines so far, those of chunks included
  std::size_t left_ = 0;        // of the body or of the chunk
  HttpRequest request_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// The head of a reply. Without a length the body comes in chunks, or, to HTTP/1.0, until the end of the connection.
std::string reply_head(int status, const Headers& headers, std::optional<std::size_t> length, const HttpRequest& to,
                       bool keep_alive);
std::string chunk(std::string_view data);  // one chunk; of nothing: the last
const char* reason(int status);

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);

}  // namespace pgdlm::serve
