#include "serve/http.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace pgdlm::serve {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

std::size_t parse_size(std::string_view text, int base, const char* what) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    throw HttpError{400, fmt::format("{} is not a number of bytes", what)};
  return value;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = percent_decoded(pair.substr(0, equals), true);
    const auto value = percent_decoded(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!name || !value) throw HttpError{400, "the query of the address is not well formed"};
    query[*name] = *value;
  }
  return query;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      unsigned char byte = 0;
      const char* digits = text.data() + i + 1;
      if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
      result += static_cast<char>(byte);
      i += 2;
    }
  }
  return result;
}

std::size_t RequestReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && stage_ != Stage::done) {
    const std::string_view rest = bytes.substr(taken);
    taken += stage_ == Stage::body || stage_ == Stage::chunk ? feed_body(rest) : feed_line(rest);
  }
  return taken;
}

std::size_t RequestReader::feed_line(std::string_view bytes) {
  begun_ = true;
  const std::size_t end = bytes.find('\n');
  const std::size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  head_bytes_ += taken;
  if (head_bytes_ > limits_.head_bytes)
    throw HttpError{431, fmt::format("the head of the request has more than {} bytes", limits_.head_bytes)};
  line_.append(bytes.substr(0, taken));
  if (end == std::string_view::npos) return taken;
  if (!line_.ends_with("\r\n")) throw HttpError{400, "lines of the head must end with CR LF"};
  line_.resize(line_.size() - 2);
  if (line_.find_first_of(std::string_view("\r\0", 2)) != std::string::npos)
    throw HttpError{400, "the head of the request has control characters"};
  const std::string line = std::exchange(line_, {});
  on_line(line);
  return taken;
}

std::size_t RequestReader::feed_body(std::string_view bytes) {
  const std::size_t taken = std::min(left_, bytes.size());
  request_.body.append(bytes.substr(0, taken));
  left_ -= taken;
  if (left_ == 0) stage_ = stage_ == Stage::body ? Stage::done : Stage::chunk_end;
  return taken;
}

void RequestReader::on_line(std::string_view line) {
  switch (stage_) {
    case Stage::head:
      if (first_line_) {
        if (!line.empty()) on_request_line(line);  // blank lines before a request are passed over
      } else if (line.empty()) {
        on_head_end();
      } else {
        on_header(line);
      }
      break;
    case Stage::chunk_size: on_chunk_size(line); break;
    case Stage::chunk_end:
      if (!line.empty()) throw HttpError{400, "a chunk of the body is longer than it says"};
      stage_ = Stage::chunk_size;
      break;
    case Stage::trailer:
      if (line.empty()) stage_ = Stage::done;
      break;
    case Stage::body:
    case Stage::chunk:
    case Stage::done: break;
  }
}

void RequestReader::on_request_line(std::string_view line) {
  first_line_ = false;
  const std::size_t one = line.find(' '), two = line.rfind(' ');
  if (one == std::string_view::npos || one == two) throw HttpError{400, "the request line is not that of HTTP"};
  const std::string_view version = line.substr(two + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    throw HttpError{version.starts_with("HTTP/") ? 505 : 400, "the version of HTTP must be 1.1 or 1.0"};
  request_.http_1_0 = version == "HTTP/1.0";
  request_.keep_alive = !request_.http_1_0;
  request_.method = line.substr(0, one);
  if (!is_token(request_.method)) throw HttpError{400, "the method of the request is no word"};

  std::string_view target = line.substr(one + 1, two - one - 1);
  if (target.starts_with("http://") || target.starts_with("https://")) {  // as proxies are asked
    const std::size_t host = target.find("//") + 2;
    target.remove_prefix(std::min(target.find('/', host), target.size()));
    if (target.empty()) target = "/";
  }
  const bool plain = std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; });
  if (!target.starts_with('/') || !plain) throw HttpError{400, "the address of the request must be a path"};
  const std::size_t mark = std::min(target.find('?'), target.size());
  const auto path = percent_decoded(target.substr(0, mark), false);
  if (!path) throw HttpError{400, "the address of the request is not well formed"};
  request_.path = *path;
  request_.query = parse_query(target.substr(std::min(target.size(), mark + 1)));
}

void RequestReader::on_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    throw HttpError{400, "a line of the head is no header"};
  const std::string name = lower(line.substr(0, colon));
  const std::string value(trimmed(line.substr(colon + 1)));
  const auto [found, fresh] = request_.headers.emplace(name, value);
  if (fresh) return;
  if (name == "content-length" || name == "host" || name == "transfer-encoding")
    throw HttpError{400, fmt::format("the header {} is given twice", name)};
  found->second += ", " + value;
}

void RequestReader::on_head_end() {
  const std::string connection = lower(request_.header("connection"));
  if (connection.find("close") != std::string::npos) request_.keep_alive = false;
  if (connection.find("keep-alive") != std::string::npos) request_.keep_alive = true;
  if (!request_.http_1_0 && !request_.headers.contains("host")) throw HttpError{400, "the header host is missing"};

  const std::string encoding = lower(request_.header("transfer-encoding"));
  if (request_.headers.contains("transfer-encoding") && (request_.http_1_0 || encoding.empty()))
    throw HttpError{400, "the header transfer-encoding has no place here"};
  const bool has_length = request_.headers.contains("content-length");
  if (!encoding.empty() && (encoding != "chunked" || has_length))
    throw HttpError{encoding == "chunked" ? 400 : 501,
                    "a body has a content-length or comes with transfer-encoding: chunked"};
  left_ = has_length ? parse_size(request_.header("content-length"), 10, "content-length") : 0;
  if (left_ > limits_.body_bytes)
    throw HttpError{413, fmt::format("the body has {} bytes, allowed: {}", left_, limits_.body_bytes)};
  stage_ = !encoding.empty() ? Stage::chunk_size : left_ > 0 ? Stage::body : Stage::done;
  wants_continue_ = stage_ != Stage::done && lower(request_.header("expect")) == "100-continue";
}

void RequestReader::on_chunk_size(std::string_view line) {
  head_bytes_ = 0;  // many small chunks are no long head
  left_ = parse_size(trimmed(line.substr(0, line.find(';'))), 16, "the size of a chunk");
  if (left_ > limits_.body_bytes - request_.body.size())
    throw HttpError{413, fmt::format("the body has more than {} bytes", limits_.body_bytes)};
  stage_ = left_ > 0 ? Stage::chunk : Stage::trailer;
}

const char* reason(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::string reply_head(int status, const Headers& headers, std::optional<std::size_t> length, const HttpRequest& to,
                       bool keep_alive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, reason(status));
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  if (length) {
    head += fmt::format("Content-Length: {}\r\n", *length);
  } else if (!to.http_1_0) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::string chunk(std::string_view data) { return fmt::format("{:x}\r\n{}\r\n", data.size(), data); }

}  // namespace pgdlm::serve
