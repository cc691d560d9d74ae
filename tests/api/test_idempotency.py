# SPDX-License-Identifier: MIT
"""Idempotency-Key: one effect however often a request is sent, also across crashes."""

import threading
import time

import service
import tap


def create(s, idem, name="x", **more):
    return s.post("/api/v1/keys", {"name": name}, headers={"Idempotency-Key": idem}, **more)


def names(s):
    return [k["name"] for k in s.get("/api/v1/keys").json["data"]]


def test_the_same_again():
    with service.running() as s:
        first = create(s, "a")
        tap.equal(first.headers["Idempotency-Replayed"], None)
        again = create(s, "a")
        tap.equal((again.status, again.body), (200, first.body))
        tap.equal(again.headers["Idempotency-Replayed"], "true")
        tap.equal(names(s).count("x"), 1)
        tap.equal(s.get("/api/v1/events", key=again.json["data"]["key"]).status, 200)
        # Another key, or none: another effect.
        assert create(s, "b").body != first.body
        assert s.make_key(name="x")["id"] != first.json["data"]["id"]
        tap.equal(names(s).count("x"), 3)


def test_another_body():
    with service.running() as s:
        tap.equal(create(s, "a", "x").status, 200)
        answer = create(s, "a", "y")
        tap.equal((answer.status, answer.json),
                  (422, {"code": 422,
                         "message": "this Idempotency-Key was used for another request"}))
        tap.equal(names(s).count("y"), 0)


def test_malformed_keys():
    with service.running() as s:
        for idem, status in (("k" * 255, 200), ("k" * 256, 400), ("a b", 400), ("", 400)):
            tap.equal(create(s, idem).status, status, idem)


def test_refused_requests_are_not_remembered():
    with service.running() as s:
        bad = {"Idempotency-Key": "a"}
        tap.equal(s.post("/api/v1/keys", {"role": "king"}, headers=bad).status, 400)
        tap.equal(create(s, "a").status, 200)


def test_accounts_do_not_share():
    with service.running() as s:
        other = s.make_key(role="system", account="operators")["key"]
        first = create(s, "a")
        second = create(s, "a", "y", key=other)
        tap.equal(second.status, 200)
        assert first.json["data"]["key"] != second.json["data"]["key"]


def test_at_once():
    with service.running() as s:
        answers, lock = [], threading.Lock()

        def work(idem):
            answer = create(s, idem)
            with lock:
                answers.append((idem, answer.status, answer.body))

        threads = [threading.Thread(target=work, args=("k%d" % (i % 5),)) for i in range(50)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(len(answers), 50)
        tap.equal({status for _, status, _ in answers}, {200})
        tap.equal(len({body for _, _, body in answers}), 5)
        tap.equal(names(s).count("x"), 5)


def test_after_a_restart():
    with service.running() as s:
        first = create(s, "a")
        s.stop()
        s.start()
        again = create(s, "a")
        tap.equal((again.status, again.body), (200, first.body))
        tap.equal(create(s, "a", "y").status, 422)
        tap.equal(names(s).count("x"), 1)


def test_killed_before_the_answer():
    """Many requests are on their way when the service is killed: some are committed but never
    answered. Repeated, each has happened once."""
    with service.running() as s:
        n_rounds, n = 4, 40
        for round_ in range(n_rounds):
            known, lock = {}, threading.Lock()

            def work(i):
                try:
                    answer = create(s, "r%d-%d" % (round_, i), "r%d-%d" % (round_, i), timeout=5)
                except Exception:
                    return
                with lock:
                    known[i] = answer.body

            threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
            for t in threads:
                t.start()
            time.sleep(0.01 + 0.02 * round_)
            s.kill()
            for t in threads:
                t.join()
            s.start()
            for i in range(n):
                name = "r%d-%d" % (round_, i)
                answer = create(s, name, name)
                tap.equal(answer.status, 200)
                if i in known:
                    tap.equal(answer.body, known[i])
                tap.equal(s.get("/api/v1/events?limit=1",
                                key=answer.json["data"]["key"]).status, 200)
            have = names(s)
            for i in range(n):
                tap.equal(have.count("r%d-%d" % (round_, i)), 1)


tap.main(globals())
