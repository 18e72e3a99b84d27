"""What nobody should send: always a proper 4xx, never a crash, and other requests do not notice."""
import concurrent.futures
import contextlib
import http.client
import json
import random
import re
import socket
import unittest

from server import SLOW, Server, ServerTest

HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
GOOD = {"prompt": "the movie", "max_tokens": 3, "seed": 1, "diffusion": {"steps": 4}}
RANDOM_BODIES = 10_000


def status_of(reply):
    found = re.match(rb"HTTP/1\.1 (\d+) ", reply)
    return int(found[1]) if found else None


class Bytes(ServerTest):
    options = ["--patience", "0.3", "--max-body-mb", "1"]

    def check_alive(self):
        self.assertTrue(self.complete(GOOD)["choices"])

    def test_what_is_no_http(self):
        for data, status in ((b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400), (b"hello\r\n\r\n", 400), (b"GET / HTTP/9.9\r\n\r\n", 505),
                             (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
                             (b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400), (b"GET / HTTP/1.1\nHost: a\n\n", 400),
                             (b"GET / HTTP/1.1\r\nHost: a\r\nb\x00d: 1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
                             (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
                             (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", 431),
                             (HEAD + b"Content-Length: x\r\n\r\n", 400), (HEAD + b"Content-Length: -1\r\n\r\n", 400),
                             (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
                             (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
                             (HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
                             (HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 501),
                             (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
                             (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
                             (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 413)):
            with self.subTest(data=data[:80]):
                reply = self.server.raw(data)
                self.assertEqual(status_of(reply), status, reply)
                self.assertIn("message", json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"])
        self.check_alive()

    def test_chunks_and_pipelines_are_understood(self):
        body = json.dumps(GOOD).encode()
        chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7]) for i in range(0, len(body), 7))
        reply = self.server.raw(HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n")
        self.assertEqual(status_of(reply), 200, reply)
        get = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        replies = self.server.raw(get * 5 + get.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        self.assertEqual(replies.count(b"HTTP/1.1 200 OK"), 6)
        old = self.server.raw(b"GET /health HTTP/1.0\r\n\r\n")
        self.assertEqual(status_of(old), 200)

    def test_continue(self):
        body = json.dumps(GOOD).encode()
        reply = self.server.raw(HEAD + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        self.assertTrue(reply.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), reply)

    def test_a_hundred_megabytes(self):
        reply = self.server.post("/v1/completions", b" " * (100 << 20))
        self.assertEqual((reply.status, reply.json()["error"]["type"]), (413, "invalid_request_error"))
        self.check_alive()

    def test_slow_senders_are_told(self):
        for data in (b"GET / HT", HEAD, HEAD + b"Content-Length: 10\r\n\r\nabc"):
            self.assertEqual(status_of(self.server.raw(data)), 408)
        self.check_alive()

    def test_half_closed(self):
        self.assertEqual(status_of(self.server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", half_close=True)), 200)
        self.assertEqual(self.server.raw(b"GET /health HT", half_close=True), b"")
        body = json.dumps(SLOW).encode()  # who closes does not wait for the answer
        self.assertEqual(self.server.raw(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body), half_close=True), b"")
        self.until(lambda: self.server.metric("requests_running") == 0)
        self.check_alive()

    def test_connections_that_say_nothing(self):
        with contextlib.ExitStack() as stack:
            for _ in range(200):
                stack.enter_context(socket.create_connection((self.server.host, self.server.port)))
            self.check_alive()

    def test_a_stream_that_is_not_read(self):
        with socket.create_connection((self.server.host, self.server.port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            body = json.dumps({**SLOW, "stream": True, "stream_events": True}).encode()
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self.until(lambda: self.server.metric("requests_running") == 1)
            self.check_alive()
        self.until(lambda: self.server.metric("requests_running") == 0)


def mutated(random_source, text):
    """A body with a few bytes changed, cut out or doubled."""
    data = bytearray(text)
    for _ in range(random_source.randint(1, 4)):
        at = random_source.randrange(len(data) + 1)
        kind = random_source.randrange(4)
        if kind == 0:
            data[at:at] = bytes([random_source.randrange(256)])
        elif kind == 1:
            del data[at:at + random_source.randint(1, 8)]
        elif kind == 2:
            data[at:at] = data[at:at + 12]
        else:
            data[at:at] = random_source.choice([b"1e999", b"-1", b"null", b"[]", b"{}", b'"\\ud800"', b"\xff", b"99999999999", b'"'])
    return bytes(data)


def odd_value(random_source, depth=0):
    kind = random_source.randrange(9)
    if kind < 6 or depth > 3:
        return random_source.choice([None, True, False, 0, -1, 1, 2**31, -2**63, 2**64, 1e308, 0.5, "", "x", "toy", "positive", "pg",
                                     "[MASK:99999999]", "\u0000", "\U0001f600" * 3, [], {}])
    if kind < 8:
        return [odd_value(random_source, depth + 1) for _ in range(random_source.randrange(4))]
    return {random_source.choice(["type", "role", "content", "a"]): odd_value(random_source, depth + 1) for _ in range(2)}


def random_body(random_source, fields, its, diffusion):
    kind = random_source.randrange(4)
    if kind == 0:
        return random_source.randbytes(random_source.randrange(200))
    if kind == 1:
        return mutated(random_source, json.dumps({**GOOD, "its": {"reward": "positive", "particles": 2, "method": "smc"}}).encode())
    body = {**GOOD, "messages": [{"role": "user", "content": "the movie"}]}
    for _ in range(random_source.randint(1, 3)):
        where = random_source.randrange(3)
        if where == 0:
            body[random_source.choice(fields)] = odd_value(random_source)
        elif where == 1:
            body["its"] = {random_source.choice(its): odd_value(random_source)}
        else:
            body["diffusion"] = {"steps": 4, random_source.choice(diffusion): odd_value(random_source)}
    return json.dumps(body, ensure_ascii=random_source.random() < 0.5).encode("utf-8", "surrogatepass")


class Bodies(ServerTest):
    options = ["--limit-forwards", "2000", "--limit-tokens", "64", "--limit-particles", "8", "--limit-seconds", "5"]

    def test_wrong_json(self):
        for body in (b"", b"{", b"[]", b"3", b"null", b'"x"', b"{}}", b'{"prompt": "\xff"}', b'{"prompt": "\xed\xa0\x80"}', b"\xef\xbb\xbf",
                     b"[" * 100_000, b'{"a":' * 100_000, b'{"prompt": 1e999}', b'{"n": 1e999}', b'{"seed": -5}', b'{"seed": 1e300}',
                     b'{"max_tokens": 99999999999999999999}', b'{"prompt": [[1.5]], "messages": [[]]}'):
            for path in ("/v1/completions", "/v1/chat/completions", "/v1/score", "/v1/rerank", "/tokenize", "/detokenize",
                         "/v1/chat/completions/control"):
                with self.subTest(body=body[:40], path=path):
                    reply = self.server.post(path, body)
                    if path == "/tokenize" and body.startswith(b'{"') and b"\xff" not in body:
                        continue  # these are fields that it does not have
                    if 200 <= reply.status < 300:
                        self.assertIn(b"99999", body)  # cut to what fits
                        continue
                    self.assertTrue(400 <= reply.status < 500, reply.body)
                    self.assertIn("message", reply.json()["error"])

    def test_random_bodies(self):
        schema = self.server.get("/openapi.json").json()["paths"]["/v1/chat/completions"]["post"]["requestBody"]
        fields = schema["content"]["application/json"]["schema"]["properties"]
        its, diffusion = list(fields["its"]["properties"]), list(fields["diffusion"]["properties"])
        statuses = {}

        def hammer(seed):
            random_source = random.Random(seed)
            connection = self.server.connect()
            for _ in range(RANDOM_BODIES // 8):
                body = random_body(random_source, list(fields), its, diffusion)
                path = random_source.choice(["/v1/completions", "/v1/chat/completions", "/v1/score", "/v1/rerank", "/tokenize",
                                             "/detokenize", "/v1/chat/completions/control"])
                connection.request("POST", path, body)
                response = connection.getresponse()
                response.read()
                statuses[response.status] = statuses.get(response.status, 0) + 1
                if response.status >= 500:
                    raise AssertionError(f"{response.status} for {path} {body!r}")
            connection.close()

        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            others = pool.submit(lambda: [self.complete(GOOD)["choices"][0]["text"] for _ in range(50)])
            list(pool.map(hammer, range(8)))
            self.assertEqual(len(set(others.result())), 1, "other requests are not disturbed")
        self.assertGreater(statuses.get(400, 0), 1000, statuses)
        self.assertGreater(statuses.get(200, 0), 100, statuses)
        self.assertLessEqual(set(statuses), {200, 400, 403, 404, 429}, statuses)
        self.until(lambda: self.server.metric("requests_running") == 0)


@contextlib.contextmanager
def busy_server(*options, body=SLOW):
    """A server with one request at work, and the reply that somebody waits for."""
    server = Server(*options)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(server.post, "/v1/completions", body)
        while server.metric("requests_running") < 1:
            pass
        yield server, waiting


class Ending(unittest.TestCase):
    """A server that is asked to stop."""

    def test_it_finishes_what_runs(self):
        with busy_server(body={**SLOW, "its": {**SLOW["its"], "iterations": 2}}) as (server, waiting):
            code, said = server.stop()
            self.assertEqual((code, waiting.result().status), (0, 200))
        self.assertIn("stopping", said)

    def test_after_its_grace_it_answers_with_the_best(self):
        with busy_server("--grace", "0.1") as (server, waiting):
            self.assertEqual(server.stop()[0], 0)
            self.assertIn("best so far", waiting.result().json()["warnings"][0])

    def test_a_trace_is_a_checkpoint(self):
        """What runs with `trace` when the server is stopped goes on with `pgdlm generate --resume`."""
        with busy_server("--grace", "0.1", "--traces", "kept", body={**SLOW, "trace": True}) as (server, waiting):
            names = [trace["name"] for trace in server.get("/runs").json()["traces"]]
            server.process.send_signal(15)
            reply = waiting.result().json()
        self.assertTrue(any(name == reply["id"] for name in names), (names, reply["id"]))
        with open(f"{server.folder.name}/kept/{reply['id']}.jsonl") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual((lines[0]["type"], lines[-1]["type"], lines[-1]["status"]), ("run_started", "run_finished", "cancelled"))
        self.assertEqual(server.stop(0)[0], 0)

    def test_new_requests_are_sent_away_meanwhile(self):
        with busy_server("--grace", "60") as (server, waiting):
            run = server.get("/runs").json()["live"][0]["id"]
            server.process.send_signal(15)
            self.assertIn("stopping", server.process.stderr.readline())
            self.assertEqual(server.get("/health").status, 503)
            refused = server.post("/v1/completions", GOOD)
            self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "1"))
            server.post("/v1/chat/completions/control", {"id": run, "action": "finish"})
            self.assertEqual(waiting.result().status, 200)
        self.assertEqual(server.stop(0)[0], 0)

    def test_twice_ends_at_once(self):
        with busy_server("--grace", "60") as (server, waiting):
            server.process.send_signal(2)
            self.assertIn("stopping", server.process.stderr.readline())
            self.assertEqual(server.stop(2)[0], 130)
            self.assertIsInstance(waiting.exception(), (ConnectionError, http.client.HTTPException))


if __name__ == "__main__":
    unittest.main()
