# SPDX-License-Identifier: MIT
"""The webhook: events are posted, signed, in order, and again until they were taken."""

import contextlib
import hashlib
import hmac
import http.server
import json
import os
import threading

import service
import shops
import tap

SECRET = "0123456789abcdef-secret"


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what is posted; .answers are the next statuses, then 200."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.posts, self.answers, self.news = [], [], threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d/hook?from=test" % self.server_address[1]

    def wait(self, what):
        """Until WHAT(events that were taken) is true; these events."""
        with self.news:
            done = self.news.wait_for(lambda: what(self.events()), timeout=20)
        assert done, [(status, [(e["id"], e["reason"]) for e in json.loads(body)["events"]])
                      for status, _, body in self.posts]
        return self.events()

    def events(self):
        return [e for status, _, body in self.posts if status < 300
                for e in json.loads(body)["events"]]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.news:
            status = self.server.answers.pop(0) if self.server.answers else 200
            self.server.posts.append((status, dict(self.headers, path=self.path), body))
            self.server.news.notify_all()
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *unused):
        pass


@contextlib.contextmanager
def receiving():
    r = Receiver()
    try:
        yield r
    finally:
        r.shutdown()
        r.server_close()


def settings(r, **more):
    return {"TIDEPOOL_EVENTS_WEBHOOK": r.url, "TIDEPOOL_EVENTS_WEBHOOK_SECRET": SECRET, **more}


def until(what):
    """What is done just after an answer of the receiver."""
    for _ in range(1000):
        if what():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def has(n):
    return lambda events: len(events) >= n


def test_ends_are_posted():
    with receiving() as r, shops.running(env=settings(r)) as s:
        lease = s.post("/sandbox/shop", {}).json
        s.make_key(account="ann")
        s.delete("/sandbox/shop/" + lease["sandbox_id"])
        events = r.wait(has(1))
        tap.equal([e["reason"] for e in events], ["AppReleased"])
        tap.equal(sorted(events[0]), ["account", "id", "kind", "message", "name", "reason", "time",
                                      "type"])
        _, headers, body = r.posts[0]
        tap.equal(headers["path"], "/hook?from=test")
        tap.equal(headers["Content-Type"], "application/json")
        text = headers["Tidepool-Timestamp"].encode() + b"." + body
        want = "sha256=" + hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest()
        tap.equal(headers["Tidepool-Signature"], want)
        until(lambda: b"tidepool_webhook_deliveries_total 1" in s.get("/metrics").body)


def test_what_is_refused_comes_again():
    with receiving() as r:
        r.answers = [500, 404]
        env = settings(r, TIDEPOOL_EVENTS_WEBHOOK_REASONS="KeyCreated")
        with service.running(env=env) as s:
            names = [s.make_key()["id"] for _ in range(3)]
            got = [e["name"] for e in r.wait(has(3))]
            tap.equal(got, names)
            tap.equal([status for status, _, _ in r.posts][:2], [500, 404])
            s.log_with("answered with 404")
            until(lambda: b"tidepool_webhook_failures_total 2" in s.get("/metrics").body)


def test_over_a_restart():
    """What happened while nobody listened comes later, in order; nothing of before comes again."""
    with receiving() as r:
        env = settings(r, TIDEPOOL_EVENTS_WEBHOOK_REASONS="KeyCreated")
        with service.running(env=env) as s:
            first = [s.make_key()["id"] for _ in range(2)]
            r.wait(has(2))
            position = os.path.join(s.state, "webhook.last")
            until(lambda: os.path.exists(position))
            r.answers = [503]
            second = s.make_key()["id"]
            r.wait(lambda unused: any(status == 503 for status, _, _ in r.posts))
            s.kill()
            s.start()
            third = s.make_key()["id"]
            events = [e["name"] for e in r.wait(has(4))]
            tap.equal(list(dict.fromkeys(events)), first + [second, third])


def test_nobody_answers():
    """The service goes on, and ends in order."""
    with receiving() as r:
        gone = r.url
    env = {"TIDEPOOL_EVENTS_WEBHOOK": gone, "TIDEPOOL_EVENTS_WEBHOOK_SECRET": SECRET,
           "TIDEPOOL_EVENTS_WEBHOOK_REASONS": "KeyCreated"}
    with service.running(env=env) as s:
        s.make_key()
        s.log_with("again_in_ms")
        tap.equal(s.get("/api/v1/keys").status, 200)


def test_settings_that_make_no_sense():
    with service.folder() as folder:
        for env, words in [
            ({"TIDEPOOL_EVENTS_WEBHOOK": "ftp://x", "TIDEPOOL_EVENTS_WEBHOOK_SECRET": SECRET},
             "is not a URL"),
            ({"TIDEPOOL_EVENTS_WEBHOOK": "http:///x", "TIDEPOOL_EVENTS_WEBHOOK_SECRET": SECRET},
             "has no host name"),
            ({"TIDEPOOL_EVENTS_WEBHOOK": "http://x"}, "requires events.webhook_secret"),
            ({"TIDEPOOL_EVENTS_WEBHOOK": "http://x", "TIDEPOOL_EVENTS_WEBHOOK_SECRET": "short"},
             "shorter than 16"),
            ({"TIDEPOOL_EVENTS_WEBHOOK": "http://x", "TIDEPOOL_EVENTS_WEBHOOK_SECRET": SECRET,
              "TIDEPOOL_EVENTS_WEBHOOK_REASONS": "Nothing"}, "unknown event 'Nothing'"),
        ]:
            status, out, err = service.tidepool("serve", "--listen", "127.0.0.1:0", "--state",
                                                os.path.join(folder, "state"), env=env)
            assert status != 0 and words in err, (env, status, out, err)


tap.main(globals())
