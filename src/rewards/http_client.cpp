#include "rewards/http_client.h"

#include <cstdlib>
#include <new>

#include <curl/curl.h>
#include <fmt/format.h>

#include "pgdlm/error.h"
#include "rewards/wire.h"

namespace pgdlm {
namespace {

constexpr std::size_t kLargestAnswer = 64UL << 20;
constexpr const char* kKey = "PGDLM_REWARD_API_KEY";

// Called by curl, through C: it must not throw. Taking less than was offered ends the transfer.
std::size_t take(char* data, std::size_t size, std::size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  const std::size_t bytes = size * count;
  if (body.size() + bytes > kLargestAnswer) return 0;
  try {
    body.append(data, bytes);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return bytes;
}

struct GlobalCurl {
  GlobalCurl() { curl_global_init(CURL_GLOBAL_DEFAULT); }
};

}  // namespace

struct HttpClient::Handle {
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;

  Handle() {
    static const GlobalCurl once;
    curl = curl_easy_init();
    if (curl == nullptr) throw Error(ErrorCode::exhausted, "reward: there is no memory for an HTTP connection");
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");  // ask at once, not after a "100 Continue"
    if (const char* key = std::getenv(kKey); key != nullptr && *key != '\0')
      headers = curl_slist_append(headers, fmt::format("Authorization: Bearer {}", key).c_str());
  }
  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

HttpClient::HttpClient(std::chrono::milliseconds patience) : handle_(std::make_unique<Handle>()), patience_(patience) {}
HttpClient::~HttpClient() = default;

std::string HttpClient::get(const std::string& url) { return perform(url, nullptr); }
std::string HttpClient::post_json(const std::string& url, const std::string& body) { return perform(url, &body); }

std::string HttpClient::perform(const std::string& url, const std::string* body) {
  CURL* curl = handle_->curl;
  std::string answer;
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_reset(curl);  // options only: the connection stays
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(patience_.count()));
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  if (body != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data());
  }
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OPERATION_TIMEDOUT)
    throw Error(
        ErrorCode::invalid_request,
        fmt::format("reward: {} did not answer within {} s", url, static_cast<double>(patience_.count()) / 1000),
        "is the server busy? --reward-patience allows more seconds");
  if (code == CURLE_WRITE_ERROR)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: {} answered with more than {} MB", url, kLargestAnswer >> 20));
  if (code != CURLE_OK)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: {} cannot be asked: {}", url, *reason != '\0' ? reason : curl_easy_strerror(code)),
                "is the server running, and the URL right?");
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200)
    throw Error(ErrorCode::invalid_request,
                fmt::format("reward: {} answered with status {}: {}", url, status, beginning(answer)),
                status == 401 || status == 403 ? fmt::format("put the server's key into ${}", kKey) : "");
  return answer;
}

}  // namespace pgdlm
