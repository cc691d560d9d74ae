# SPDX-License-Identifier: MIT
"""The data of every app over the API: what is dumped can be initialized again, and nothing of it
is lost on the way; what is not in the format is said to be wrong."""

import json
import os

import service
import tap

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps")


def names():
    """The apps that have data: a format, scripts and a default seed."""
    return [name for name in sorted(os.listdir(APPS))
            if all(os.path.exists(os.path.join(APPS, name, part))
                   for part in ("data.json", "data.sql", "seed/default.json"))]


def acquire(s, name, **body):
    answer = s.post("/sandbox/" + name, body)
    tap.equal(answer.status, 201, answer)
    return "/sandbox/%s/%s" % (name, answer.json["sandbox_id"])


def dump(s, path):
    answer = s.get(path + "/dump")
    tap.equal(answer.status, 200, answer)
    return answer.json["data"]


def test_round_trip():
    with service.running() as s:
        assert names(), "no apps"
        for name in names():
            first = dump(s, acquire(s, name, data="default"))
            again = acquire(s, name)
            answer = s.post(again + "/initialize", first)
            tap.equal(answer.status, 200, (name, answer))
            assert sum(answer.json["records_created"].values()) > 0, (name, answer.json)
            tap.equal(json.dumps(dump(s, again)), json.dumps(first), name)


def test_seed_as_body():
    """The default seeds are bodies that the API takes, and say the same as the data set."""
    with service.running() as s:
        for name in names():
            with open(os.path.join(APPS, name, "seed", "default.json")) as f:
                seed = json.load(f)
            path = acquire(s, name)
            empty = dump(s, path)
            answer = s.post(path + "/initialize", seed)
            tap.equal(answer.status, 200, (name, answer))
            tap.equal(dump(s, path), dump(s, acquire(s, name, data="default")), name)
            tap.equal(s.post(path + "/reset").status, 200)
            tap.equal(dump(s, path), empty, name)


tap.main(globals())
