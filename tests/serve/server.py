"""Starts the server for the tests of this folder, and asks it. PGDLM says where the program is."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PGDLM = os.environ.get("PGDLM", os.path.join(os.path.dirname(__file__), "..", "..", "build", "pgdlm"))
os.environ["PGDLM_MODEL"] = "toy"  # unless a test says otherwise
SLOW = {"prompt": "the movie", "max_tokens": 400, "diffusion": {"steps": 400, "process": "llada"},
        "its": {"method": "pg", "reward": "positive", "particles": 8, "iterations": 10000}}  # runs until it is stopped


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    """`pgdlm serve` on a free port, with these options."""

    def __init__(self, *args, env=None):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([PGDLM, "serve", "--port", "0", *args], stderr=subprocess.PIPE, text=True,
                                        cwd=self.folder.name, env={**os.environ, **(env or {})})
        line = self.process.stderr.readline()
        found = re.match(r"listening on http://(.*):(\d+)$", line)
        assert found, line + self.process.stderr.read()
        self.host, self.port = found[1], int(found[2])

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        with contextlib.closing(self.connect()) as connection:
            data = body if isinstance(body, (bytes, str, type(None))) else json.dumps(body)
            connection.request(method, path, data, headers or {})
            return Reply(connection.getresponse())

    def get(self, path, headers=None):
        return self.ask("GET", path, None, headers)

    def post(self, path, body, headers=None):
        return self.ask("POST", path, body, headers)

    def metric(self, name):
        """The sum over all labels."""
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"pgdlm_{name}[ {{]", line))

    def raw(self, data, half_close=False):
        """All that comes back for these bytes, up to the end of the connection."""
        with socket.create_connection((self.host, self.port), timeout=60) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            received = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    received += part
            return received

    def stop(self, number=signal.SIGTERM):
        """Asks it to end; its exit code and what it said."""
        self.process.send_signal(number)
        said = self.process.stderr.read()
        self.process.stderr.close()
        code = self.process.wait(timeout=60)
        self.folder.cleanup()
        return code, said


class Stream:
    """Server-sent events, one after the other: (id, name, data)."""

    def __init__(self, server, path, body=None):
        self.connection = server.connect()
        self.connection.request("POST" if body is not None else "GET", path, json.dumps(body) if body else None)
        self.response = self.connection.getresponse()
        self.id = self.response.headers.get("X-Request-Id")

    def __iter__(self):
        fields = {}
        while line := self.response.readline():
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
                continue
            if fields.get("data") == "[DONE]":
                self.close()
                return
            if fields:
                yield int(fields["id"]), fields.get("event"), json.loads(fields["data"])
            fields = {}

    def close(self):
        self.response.close()
        self.connection.close()


def text_of(events):
    """What the deltas of choice 0 say."""
    text = ""
    for _, name, data in events:
        for choice in data["choices"] if name is None else []:
            if choice["index"] == 0:
                text += choice["text"] if "text" in choice else choice["delta"].get("content", "")
    return text


class ServerTest(unittest.TestCase):
    options = []

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        code, said = cls.server.stop()
        assert code == 0, f"exit code {code}: {said}"

    def complete(self, body, path="/v1/completions", headers=None):
        reply = self.server.post(path, body, headers)
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def refused(self, status, words, body, path="/v1/completions", headers=None, param=None):
        reply = self.server.post(path, body, headers)
        self.assertEqual(reply.status, status, reply.body)
        error = reply.json()["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        for word in words:
            self.assertIn(word, error["message"])
        if param:
            self.assertEqual(error["param"], param)
        return error

    def until(self, condition):
        """Waits for something the server does on its own; the test's time limit is that of ctest."""
        while not condition():
            time.sleep(0.01)  # the server needs the processor too
