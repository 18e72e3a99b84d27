"""curl, as in the first lines of any documentation: no content type, server-sent events on a terminal, a broken line."""
import json
import os
import re
import subprocess
import unittest

URL = os.environ["PGDLM_URL"]
SMALL = {"model": "mdlm-nano", "prompt": "The movie", "max_tokens": 16, "seed": 1}


def curl(path, body=None, *options, code=0):
    data = [] if body is None else ["--data-binary", "@-"]
    result = subprocess.run(["curl", "-sS", "--max-time", "60", *data, *options, URL + path], capture_output=True, text=True,
                            input=None if body is None else body if isinstance(body, str) else json.dumps(body))
    if result.returncode != code:
        raise AssertionError(result.stderr)
    return result.stdout


def events(stream):
    """(id, data) of every message."""
    return re.findall(r"^id: (\d+)\n(?:event: .*\n)?data: (.*)$", stream, re.M)


class Curl(unittest.TestCase):
    def test_json_without_its_content_type(self):
        self.assertTrue(json.loads(curl("/v1/completions", SMALL))["choices"][0]["text"])

    def test_a_stream_is_numbered_and_ends(self):
        headers, _, stream = curl("/v1/completions", {**SMALL, "stream": True}, "-N", "-i").replace("\r", "").partition("\n\n")
        self.assertRegex(headers, r"(?i)\nContent-Type: text/event-stream")
        found = events(stream)
        self.assertEqual([int(number) for number, _ in found], list(range(len(found))))
        self.assertEqual(found[-1][1], "[DONE]")

    def test_a_stream_can_be_read_again_from_where_it_broke(self):
        body = {**SMALL, "stream": True, "stream_mode": "denoise", "reconnect_seconds": 60}
        whole = events(curl("/v1/completions", body, "-N"))
        run = json.loads(whole[0][1])["id"]
        self.assertEqual(events(curl(f"/runs/{run}/events", None, "-N", "-H", "Last-Event-ID: 3")), whole[4:])
        self.assertEqual(events(curl(f"/runs/{run}/events?after=3", None, "-N")), whole[4:])

    def test_a_run_outlives_its_connection_where_that_is_asked_for(self):
        body = {**SMALL, "stream": True, "stream_mode": "denoise", "reconnect_seconds": 60, "max_tokens": 48,
                "its": {"reward": "sentiment:positive", "particles": 8}}
        headers = curl("/v1/completions", body, "-N", "-i", "--max-time", "0.5", code=28)
        run = re.search(r"(?im)^X-Request-Id: (\S+)", headers)[1]
        found = events(curl(f"/runs/{run}/events", None, "-N"))
        self.assertEqual(found[-1][1], "[DONE]")
        self.assertEqual([int(number) for number, _ in found], list(range(len(found))))

    def test_status_lines(self):
        def status(path, body=None, *options):
            return curl(path, body, *options, "-o", "/dev/null", "-w", "%{http_code} %{content_type}")

        self.assertEqual(status("/health"), "200 application/json")
        self.assertEqual(status("/nothing"), "404 application/json")
        self.assertEqual(status("/v1/completions", "{broken"), "400 application/json")
        self.assertEqual(status("/v1/completions", None, "-X", "DELETE"), "405 application/json")

    def test_a_body_that_is_too_large(self):
        """curl asks first, with Expect: 100-continue; whether it sends the body then or not, it reads why."""
        reply = curl("/v1/completions", json.dumps({"prompt": "x" * (16 << 20)}))
        self.assertIn("error", json.loads(reply))

    def test_the_description_is_json(self):
        paths = json.loads(curl("/openapi.json"))["paths"]
        self.assertLessEqual({"/v1/completions", "/v1/chat/completions", "/v1/models", "/v1/score"}, set(paths))


if __name__ == "__main__":
    unittest.main()
