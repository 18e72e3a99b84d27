// A server as a reward: four forms of question and answer, and what a server may do wrong.
#include "rewards/http_reward.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "kit/scratch.h"
#include "pgdlm/error.h"
#include "rewards/child.h"

namespace pgdlm {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

// Answers a POST with what the Python expression `answer` makes of the question `q`, and a GET with a list of models.
// It ends with the pipe it was started by.
constexpr const char* kServer = R"(
import http.server, json, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def reply(self, status, value):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.reply(200, {'data': [{'id': 'm1'}, {'id': 'm2'}]})
    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        key = self.headers.get('Authorization')
        self.reply(*(ANSWER))
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    print(server.server_port, flush=True)
)";

struct Http : testing::Test {
  Http() { setenv("NO_PROXY", "127.0.0.1", 1); }

  // Starts a server; the address of `path` there. `answer` is (status, JSON or bytes).
  std::string serve(const std::string& path, const std::string& answer) {
    const std::filesystem::path file = folder / ("server" + std::to_string(servers.size()) + ".py");
    std::string program = kServer;
    program.replace(program.find("ANSWER"), 6, answer);
    std::ofstream(file) << program;
    servers.push_back(std::make_unique<Child>("exec python3 '" + file.string() + "'"));
    std::string port;
    EXPECT_EQ(servers.back()->ask("port?", port, std::chrono::minutes(1)), Child::Outcome::answered);
    return "http://127.0.0.1:" + port + path;
  }
  static std::vector<double> scores(const std::string& url, const std::vector<Passage>& texts) {
    std::vector<double> found;
    for (const Scored& scored : make_http_reward(url, std::chrono::minutes(1))->score(texts))
      found.push_back(scored.score);
    return found;
  }
  static std::string failure(const std::string& url, std::chrono::milliseconds patience = std::chrono::minutes(1)) {
    try {
      make_http_reward(url, patience)->score(kTwo);
    } catch (const Error& e) {
      return std::string(e.what()) + " | " + e.hint();
    }
    return "";
  }

  inline static const std::vector<Passage> kTwo = {{"p", "abc", "pabc"}, {"", "\xff\"", "\xff\""}};
  const Scratch folder{"http"};
  std::vector<std::unique_ptr<Child>> servers;
};

TEST_F(Http, OwnFormInBatches) {
  const std::string url = serve("/my/score",
                                "(200, {'scores': [len(t['reply']) if t['reply'] else None for t in q['texts']]}"
                                " if len(q['texts']) <= 32 else {})");
  EXPECT_THAT(scores(url, kTwo), ElementsAre(3, 2));  // the broken byte is one character
  EXPECT_THAT(scores(url, {}), ElementsAre());
  EXPECT_THAT(scores(url, {{"p", "", "p"}}), ElementsAre(-std::numeric_limits<double>::infinity()));
  std::vector<Passage> many;
  std::vector<double> lengths;
  for (int i = 0; i < 100; ++i) {
    many.push_back({"", std::string(i + 1, 'x'), ""});
    lengths.push_back(i + 1);
  }
  EXPECT_EQ(scores(url, many), lengths);
}

TEST_F(Http, TextEmbeddingsInference) {
  const std::string url = serve("/predict",
                                "(200, [[{'label': 'toxic', 'score': 0.75}, {'label': 'fine', 'score': 0.25}]"
                                " if q['truncate'] and text == 'pabc' else [{'label': 'fine', 'score': 1}, "
                                "{'label': 'toxic', 'score': 0}] for [text] in q['inputs']])");
  EXPECT_THAT(scores(url + "#fine", kTwo), ElementsAre(DoubleNear(std::log(0.25), 1e-12), 0));
  EXPECT_THAT(scores(url + "#toxic@p", kTwo), ElementsAre(DoubleNear(0.75, 1e-12), 0));
  EXPECT_THAT(failure(url + "#nice"), HasSubstr("has no label 'nice'; choose with #LABEL: toxic, fine"));
  EXPECT_THAT(failure(url), HasSubstr("choose with #LABEL"));
}

TEST_F(Http, Classify) {
  // The results come in another order than the texts.
  const std::string url = serve("/classify",
                                "(200, {'data': [{'index': i, 'label': 'bad' if len(t) > 3 else 'good', 'probs': "
                                "[0.9, 0.1] if len(t) > 3 else [0.2, 0.8]} for i, t in "
                                "reversed(list(enumerate(q['input'])))]} if q['model'] == 'm1' else {})");
  EXPECT_THAT(scores(url + "#@p", kTwo), Pointwise(DoubleNear(1e-12), {0.1, 0.8}));
  EXPECT_THAT(scores(url + "#0@p", kTwo), Pointwise(DoubleNear(1e-12), {0.9, 0.2}));
  EXPECT_THAT(scores(url + "#good@p", kTwo), Pointwise(DoubleNear(1e-12), {0.1, 0.8}));
  EXPECT_THAT(failure(url + "#2"), HasSubstr("has the classes 0 to 1, not 2"));
  EXPECT_THAT(failure(url + "#goood"), HasSubstr("has not named a class 'goood' yet, but bad, good"));
  const std::string three = serve("/classify",
                                  "(200, {'data': [{'index': i, 'label': 'a', 'probs': [0.5, 0.3, 0.2]} "
                                  "for i in range(len(q['input']))]})");
  EXPECT_THAT(failure(three + "#b"), HasSubstr("choose it by its number: #0 to #2"));
}

TEST_F(Http, Pooling) {
  const std::string url = serve("/pooling",
                                "(200, {'data': [{'index': i, 'data': [len(t)] if i else [[7], [0.5]]} for i, t "
                                "in enumerate(q['input'])]})");
  EXPECT_THAT(scores(url, kTwo), ElementsAre(0.5, 2));
}

TEST_F(Http, PoolingOfSteps) {
  const std::string url =
      serve("/pooling",
            "(200, {'data': [{'index': 0, 'data': [[0.5, 0.5], [0.8, 0.2], [0.1, 0.9]]}]} if [m['role'] for m in "
            "q['messages']] == ['system', 'user', 'assistant'] and q['messages'][1]['content'] == 'p' and "
            "q['messages'][2]['content'] == 'a<extra_0>b<extra_0>c<extra_0>' else {})");
  const std::vector<Passage> steps = {{"p", "a\n\nb\n\nc", ""}, {"p", "\n", ""}};
  EXPECT_THAT(scores(url + "#last", steps), Pointwise(DoubleNear(1e-12), {0.9, 0.0}));
  EXPECT_THAT(scores(url + "#min", steps), Pointwise(DoubleNear(1e-12), {0.2, 0.0}));
  EXPECT_THAT(scores(url + "#prod", steps), Pointwise(DoubleNear(1e-12), {0.09, 0.0}));
  EXPECT_THAT(failure(url + "#last"), HasSubstr("expected \"data\" with 1 results"));
  const std::string odd = serve("/pooling", "(200, {'data': [{'index': 0, 'data': [[1.5, -0.5]]}]})");
  EXPECT_THAT(failure(odd + "#min"), HasSubstr("gave the probability -0.5"));
  const std::string all = serve("/pooling", "(200, {'data': [{'index': 0, 'data': [[0.5, 0.5]] * 9}]})");
  EXPECT_THAT(failure(all + "#model"), HasSubstr("gave 9 rows for 1 steps"));
  EXPECT_TRUE(make_http_reward(url + "#last", std::chrono::minutes(1))->accepts_prefixes());
  EXPECT_FALSE(make_http_reward(url, std::chrono::minutes(1))->accepts_prefixes());
}

TEST_F(Http, OneConnectionAndTheKey) {
  setenv("PGDLM_REWARD_API_KEY", "secret", 1);
  const std::string url = serve("/x",
                                "(200, {'scores': [self.client_address[1] if key == 'Bearer secret' else 0] * "
                                "len(q['texts'])})");
  const auto reward = make_http_reward(url, std::chrono::minutes(1));
  unsetenv("PGDLM_REWARD_API_KEY");
  const double port = reward->score(kTwo).front().score;
  EXPECT_GT(port, 0);
  EXPECT_EQ(reward->score(kTwo).front().score, port);
}

TEST_F(Http, Failures) {
  EXPECT_THAT(failure(serve("/x", "(200, b'[' * 5000000 + b']' * 5000000)")),
              HasSubstr("expected {\"scores\": [...]}"));
  EXPECT_THAT(failure(serve("/predict", "(200, [{'a': {'label': 'a', 'score': 1}}] * 2)") + "#a"),
              HasSubstr("expected [{"));
  EXPECT_THAT(failure("http:/127.0.0.1/x"), HasSubstr("is not a URL"));
  EXPECT_THAT(failure(serve("/x", "(200, {'scores': [1]})")), HasSubstr("gave 1 scores for 2 texts"));
  EXPECT_THAT(failure(serve("/x", "(200, {'scores': [1, 'x']})")), HasSubstr("gave the score \"x\""));
  EXPECT_THAT(failure(serve("/x", "(200, b'<html>')")), HasSubstr("answered '<html>', expected JSON"));
  EXPECT_THAT(failure(serve("/x", "(500, {'error': 'oom'})")),
              HasSubstr("answered with status 500: {\"error\": \"oom\"}"));
  EXPECT_THAT(failure(serve("/x", "(401, {})")), HasSubstr("$PGDLM_REWARD_API_KEY"));
  EXPECT_THAT(failure(serve("/predict", "(200, [])") + "#a"), HasSubstr("expected a list of 2 lists"));
  EXPECT_THAT(failure(serve("/pooling", "(200, {'data': [{'index': 5, 'data': [1]}] * 2})")),
              HasSubstr("expected an \"index\" from 0 to 1"));
  EXPECT_THAT(failure(serve("/x", "__import__('time').sleep(60) or (200, {})"), std::chrono::milliseconds(50)),
              HasSubstr("did not answer within 0.05 s"));
  EXPECT_THAT(failure("http://127.0.0.1:1/x"), HasSubstr("cannot be asked"));
  EXPECT_THAT(failure("http://127.0.0.1:1/x#a"), HasSubstr("has no labels to choose '#a' from"));
}

}  // namespace
}  // namespace pgdlm
