# SPDX-License-Identifier: MIT
"""Members of requests that nobody reads: answered with a warning where the original of a surface
ignores them, refused where the endpoint is this service's own."""

import shops
import tap

SEED = "unknown field 'seeed'; did you mean 'seed'?"


def warned(answer):
    return answer.json.get("warnings"), answer.headers.get("Tidepool-Warning")


def test_acquire_warns():
    with shops.running() as s:
        answer = s.post("/sandbox/shop", {"seeed": 7, "data": "default"})
        tap.equal(answer.status, 201, answer)
        tap.equal(warned(answer), ([SEED], SEED))
        answer = s.post("/sandbox/shop", {"seed": 7})
        tap.equal(warned(answer), (None, None))
        # A name that is like none is said, too; so is each of several, once.
        answer = s.post("/sandbox/shop", {"zzzzzz": 1, "seeed": 2})
        tap.equal(answer.json["warnings"], ["unknown field 'zzzzzz'", SEED])
        many = s.post("/sandbox/shop", {"count": 2, "seeed": 7})
        tap.equal([x["warnings"] for x in many.json], [[SEED], [SEED]])
        tap.equal(many.headers["Tidepool-Warning"], SEED)
        # A repeated request gets the same answer.
        keyed = {"Idempotency-Key": "k"}
        first = s.post("/sandbox/shop", {"seeed": 7}, headers=keyed)
        again = s.post("/sandbox/shop", {"seeed": 7}, headers=keyed)
        tap.equal((first.json["warnings"], again.json), ([SEED], first.json))
        s.log_with("did you mean 'seed'")


def test_a_name_is_no_way_into_the_header():
    with shops.running() as s:
        answer = s.post("/sandbox/shop", {"a\r\nX-Evil: 1\u00e9" + "b" * 500: 1})
        tap.equal((answer.status, answer.headers.get("X-Evil")), (201, None), answer)
        tap.equal(answer.headers["Tidepool-Warning"],
                  "unknown field 'a??X-Evil: 1??" + "b" * 50 + "'")
        answer = s.post("/sandbox/shop", {"f%02d" % i: 1 for i in range(40)})
        tap.equal(len(answer.json["warnings"]), 8, "bounded")


def test_extensions_refuse():
    with shops.running() as s:
        shop = shops.Shop(s, data="default")
        path = "/sandbox/shop/" + shop.id
        for tail, body, name, hint in (
                ("/fork", {"snapshto": "x"}, ["snapshto"], "; did you mean 'snapshot'?"),
                ("/fork", {"seed": 1}, ["seed"], ""),
                ("/snapshot", {"nmae": "x"}, ["nmae"], "; did you mean 'name'?"),
                ("/restore", {"snapshot": "x"}, ["snapshot"], ""),
                ("/verify", {"checks": [], "chekcs": []}, ["chekcs"], "; did you mean 'checks'?"),
                ("/verify", {"checks": [{"sql": "SELECT 1", "equal": 1}]},
                 ["checks", 0, "equal"], "; did you mean 'equals'?")):
            answer = s.post(path + tail, body)
            tap.equal(answer.status, 422, (tail, answer))
            item, = answer.json["detail"]
            tap.equal((item["type"], item["loc"], item["msg"]),
                      ("extra_forbidden", ["body"] + name, "Extra inputs are not permitted" + hint))
        tap.equal(s.get(path + "/snapshots").json["snapshots"], [])


def test_initialize_warns_of_what_no_import_reads():
    with shops.running() as s:
        shop = shops.Shop(s)
        with open(s.apps + "/shop/data.json", "w") as f:
            f.write('{"type":"object","properties":{"products":{"type":"array"}}}')
        shop = shops.Shop(s)
        path = "/sandbox/shop/%s/initialize" % shop.id
        answer = s.post(path, {"prodcuts": [{"name": "tea", "price": 1}]})
        tap.equal(answer.json["warnings"],
                  ["unknown field 'prodcuts'; did you mean 'products'?"], answer)
        answer = s.post(path, {"products": [{"name": "tea", "price": 1, "stock": 2}]})
        tap.equal(warned(answer), (None, None))


def test_query_parameters():
    with shops.running() as s:
        shop = shops.Shop(s)
        path = "/sandbox/shop/" + shop.id
        for method, target, want in (
                ("POST", path + "/initialize?init_default_dta=true",
                 "unknown query parameter 'init_default_dta'; did you mean 'init_default_data'?"),
                ("GET", "/sandbox?tga=x", "unknown query parameter 'tga'; did you mean 'tag'?"),
                ("GET", "/api/v1/events?limt=1&api_key=%s" % s.key,
                 "unknown query parameter 'limt'; did you mean 'limit'?"),
                ("GET", path + "?x%0d%0aX-Evil:1=1", "unknown query parameter 'x%0d%0aX-Evil:1'")):
            answer = s.request(method, target)
            tap.equal((answer.status, answer.json.get("warnings"),
                       answer.headers.get("Tidepool-Warning")), (200, [want], want), answer)
        for target in ("/sandbox?tag=x&server_name=shop", "/api/v1/events?limit=1&sandbox=x", path,
                       "/openapi.json?whatever=1"):
            tap.equal(s.get(target).headers.get("Tidepool-Warning"), None, target)


def test_the_native_surface():
    with shops.running() as s:
        # This service's own endpoints refuse.
        for body, text in (({"account": "a", "rol": "user"},
                            "unknown field 'rol'; did you mean 'role'?"),
                           ({"account": "a", "limits": {"max_rsp": 1}},
                            "unknown field 'limits.max_rsp'; did you mean 'max_rps'?")):
            answer = s.post("/api/v1/keys", body)
            tap.equal((answer.status, answer.json["message"]), (400, text), answer)
        tap.equal(s.post("/api/v1/keys", {"account": "a", "limits": {"max_rps": 1}}).status, 200)
        # What others have defined takes more than it knows.
        answer = s.post("/api/v1/sandbox/metrics", {"names": ["x"], "nams": 1})
        tap.equal((answer.status, answer.json["warnings"]),
                  (200, ["unknown field 'nams'; did you mean 'names'?"]), answer)


tap.main(globals())
