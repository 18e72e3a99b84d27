#include "serve/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgdlm::serve {
namespace {

using ::testing::HasSubstr;

constexpr HttpLimits kSmall{.head_bytes = 200, .body_bytes = 16};

HttpRequest read(std::string_view bytes, HttpLimits limits = {}) {
  RequestReader reader(limits);
  EXPECT_EQ(reader.feed(bytes), bytes.size());
  EXPECT_TRUE(reader.done());
  return reader.take();
}

int refusal(std::string_view bytes, HttpLimits limits = kSmall) {
  RequestReader reader(limits);
  try {
    reader.feed(bytes);
  } catch (const HttpError& error) {
    return error.status;
  }
  return reader.done() ? 200 : 0;
}

TEST(Http, ReadsARequest) {
  const HttpRequest request =
      read("POST /a%20b?x=1&y=%2B+z HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nx-two:  2 \r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query.at("x"), "1");
  EXPECT_EQ(request.query.at("y"), "+ z");
  EXPECT_EQ(request.header("x-two"), "1, 2");
  EXPECT_EQ(request.header("none"), "");
  EXPECT_EQ(request.body, "abc");
  EXPECT_TRUE(request.keep_alive);
}

TEST(Http, ReadsTheSameInAnyPieces) {
  const std::string bytes =
      "\r\nPOST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: "
      "x\r\n\r\n";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    RequestReader reader({});
    for (std::size_t at = 0; at < bytes.size(); at += step)
      EXPECT_EQ(reader.feed(std::string_view(bytes).substr(at, step)), std::min(step, bytes.size() - at));
    ASSERT_TRUE(reader.done()) << step;
    EXPECT_EQ(reader.take().body, "abcde");
  }
}

TEST(Http, LeavesTheNextRequestAlone) {
  const std::string one = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  RequestReader reader({});
  EXPECT_EQ(reader.feed(one + one), one.size());
  EXPECT_TRUE(reader.done());
}

TEST(Http, KnowsWhetherTheConnectionStays) {
  EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n").keep_alive);
}

TEST(Http, TakesWhatAProxyIsAsked) {
  EXPECT_EQ(read("GET http://h:1/x?y=1 HTTP/1.1\r\nHost: h\r\n\r\n").path, "/x");
  EXPECT_EQ(read("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n").path, "/");
}

TEST(Http, SaysOnceThatItWaitsForTheBody) {
  RequestReader reader({});
  reader.feed("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_TRUE(reader.wants_continue());
  EXPECT_FALSE(reader.wants_continue());
  EXPECT_FALSE(reader.done());
}

TEST(Http, RefusesWhatIsTooLarge) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refusal(head + "Content-Length: 16\r\n\r\n0123456789abcdef"), 200);
  EXPECT_EQ(refusal(head + "Content-Length: 17\r\n\r\n"), 413);
  EXPECT_EQ(refusal(head + "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n7\r\n"), 413);
  EXPECT_EQ(refusal(head + "X: " + std::string(200, 'a')), 431);
  std::string many;  // small chunks are no long head
  for (int i = 0; i < 16; ++i) many += "1\r\na\r\n";
  EXPECT_EQ(refusal(head + "Transfer-Encoding: chunked\r\n\r\n" + many + "0\r\n\r\n"), 200);
}

TEST(Http, EveryBrokenRequestIsToldOrIncomplete) {
  const std::string good = "POST /x?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab";
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'\0', '\n', '\r', ' ', '%', ':', '9', '\x80'}) {
      std::string bad = good;
      bad[at] = c;
      const int status = refusal(bad);
      EXPECT_TRUE(status == 0 || status == 200 || (status >= 400 && status < 510)) << bad;
    }
  }
}

TEST(Http, WritesHeadsAndChunks) {
  HttpRequest request;
  const std::string head = reply_head(200, {{"A", "b"}}, 3, request, true);
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(reply_head(200, {}, std::nullopt, request, false), HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_EQ(chunk("hello world, you"), "10\r\nhello world, you\r\n");
  EXPECT_EQ(chunk(""), "0\r\n\r\n");
}

}  // namespace
}  // namespace pgdlm::serve
