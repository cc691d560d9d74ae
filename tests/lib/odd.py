# SPDX-License-Identifier: MIT
"""Values that a schema allows, nearly allows or does not allow at all, from a seeded source.

    odd = Odd(random.Random(7), doc["components"]["schemas"])
    body = odd.of({"$ref": "#/components/schemas/NewSandbox"})
"""

import json

DEEPEST = 6
TEXTS = [
    "",
    "a",
    "0",
    "-1",
    "null",
    "true",
    "../../../../etc/passwd",
    "/etc/shadow",
    "/proc/self/mem",
    "/dev/zero",
    "%00",
    "%2e%2e%2f",
    "a\x00b",
    "a\r\nX-Odd: 1",
    "' OR 1=1 --",
    "\"; DROP TABLE x;",
    "(a+)+$",
    "(a|a)*b",
    "[[:alpha:]",
    "a{1,60000}",
    "*",
    "%",
    "_%_%_%",
    "$(sleep 1)",
    "`id`",
    "${jndi:x}",
    "{{7*7}}",
    "=1+1",
    "=REPT(\"a\",99999)",
    "2026-13-45T99:99:99Z",
    "1970-01-01",
    "9999-12-31T23:59:59Z",
    "P1D",
    "RRULE:FREQ=SECONDLY;COUNT=100000",
    "1e999",
    "0x10",
    "NaN",
    "99999999999999999999",
    "\u202eabc",
    "\U0001f40b" * 9,
    "e\u0301" * 40,
    "\ufeff",
    "<b>&amp;",
    "http://127.0.0.1:1/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "a@b",
    "user@example.com",
    "project = X ORDER BY created",
    "SELECT Id FROM Account",
    "A1:ZZ99999",
    "Sheet1!A1",
    "is:open",
    "contains(subject,'a')",
    "SELECT * FROM sqlite_master",
    "[" * 500,
    "{\"a\":" * 200,
    "1" * 400,
]
NUMBERS = [
    0, 1, 2, 7, 10, 100, 1000, 65535, 65536, 1000000, -1, -7, 2**31 - 1, 2**31, 2**53, 2**63 - 1,
    2**63, -2**63, 2**64, 0.5, -0.0, 1e308, 1e-300
]
COMMANDS = [
    "true",
    "false",
    "echo hi",
    "id",
    "ls -la / /proc /dev",
    "cat /etc/passwd",
    "sleep 0.05",
    "head -c 200000 /dev/urandom | base64",
    "yes | head -c 3000000",
    "seq 20000",
    "kill -9 $$",
    "exit 77",
    "cat",
    "mount",
    "python3 -c 'print(1)'",
    "for i in 1 2 3; do (sleep 2 &) ; done",
    "dd if=/dev/zero of=/tmp/f bs=1M count=8 2>&1; rm /tmp/f",
    "ln -sf /etc/shadow /tmp/l; cat /tmp/l",
    "mkfifo /tmp/p; ls -l /tmp/p",
    "printf '\\377\\376\\000'",
    "ulimit -a",
    "df",
    "env",
]
ODD_BYTES = [
    b"\x00", b"\xff\xfe", b"{", b"}", b"[" * 300, b'"', b"\\u0000", b"\\ud800", b"null", b"-1",
    b"1e999", b"9" * 30, b"{}", b"[]", b"../" * 20, b"%00", b"%", b"\r\n", b"&", b"=", b"a" * 5000,
    b"\r\n\r\n", b"0\r\n\r\n", b": ", b"\t", b"//", b"?", b"#"
]


class Odd:
    def __init__(self, r, schemas=None):
        self.r, self.schemas = r, schemas or {}
        self.known = []  # words that were seen in answers: ids make a call go deeper
        self.is_wild = 0.15  # how often a value is not what its schema says

    # ---- single values ----

    def text(self, longest=100_000):
        kind = self.r.random()
        if kind < 0.45 and self.known:
            return self.r.choice(self.known)
        if kind < 0.90:
            return self.r.choice(TEXTS)
        if kind < 0.98:
            return self.r.choice(TEXTS) * self.r.choice([2, 10, 300])
        return self.r.choice(["a", "é", "%a", "a b ", "<x>", "\"", "\\", "\u0000"
                              ]) * self.r.randint(1, longest)

    def number(self):
        return self.r.choice(NUMBERS) if self.r.random() < 0.6 else self.r.randint(-20, 200)

    def any(self, depth=0):
        kind = self.r.randrange(8 if depth < DEEPEST else 5)
        if kind == 0:
            return None
        if kind == 1:
            return self.r.random() < 0.5
        if kind == 2:
            return self.number()
        if kind in (3, 4):
            return self.text()
        if kind in (5, 6):
            return [self.any(depth + 1) for _ in range(self.r.choice([0, 1, 2, 3]))]
        return {self.text(50)[:200]: self.any(depth + 1) for _ in range(self.r.choice([0, 1, 2]))}

    # ---- by a schema ----

    def of(self, schema, depth=0, name=""):
        if schema is True or not isinstance(schema,
                                            dict) or self.r.random() < self.is_wild / (1 + depth):
            return self.any(depth)
        if "$ref" in schema:
            target = self.schemas.get(schema["$ref"].rpartition("/")[2], {})
            return self.of(target, depth + 1, name) if depth < 4 * DEEPEST else None
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.r.choice(schema["enum"])
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                return self.of(self.r.choice(schema[word]), depth + 1, name)
        if schema.get("allOf"):
            parts = [self.of(x, depth + 1, name) for x in schema["allOf"]]
            return {k: v for x in parts if isinstance(x, dict) for k, v in x.items()}
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = self.r.choice(kind)
        return self.of_type(kind, schema, depth, name)

    def of_type(self, kind, schema, depth, name):
        if kind == "object":
            return self.of_object(schema, depth)
        if kind == "array":
            n = self.r.choice([0, 1, 1, 2, 3]) if depth < DEEPEST else 0
            n = max(n, min(schema.get("minItems", 0), 4))
            return [self.of(schema.get("items", True), depth + 1, name) for _ in range(n)]
        if kind == "boolean":
            return self.r.random() < 0.5
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), schema.get("maximum", 300)
            if self.r.random() < 0.7 and high >= low:
                return self.r.randint(int(low), int(max(low, min(high, low + 1000))))
            return self.number()
        if kind == "null":
            return None
        if name in ("command", "cmd", "code") and self.r.random() < 0.8:
            return self.r.choice(COMMANDS)
        return schema["default"] if "default" in schema and self.r.random() < 0.3 else self.text()

    def of_object(self, schema, depth):
        made, needed = {}, set(schema.get("required", ()))
        for name, inner in schema.get("properties", {}).items():
            is_wanted = name in needed or self.r.random() < 0.35 / (1 + depth / 2)
            if is_wanted and depth < 2 * DEEPEST and self.r.random() > self.is_wild / 10:
                made[name] = self.of(inner, depth + 1, name)
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and depth < DEEPEST:
            made.update({
                self.text(20)[:100]: self.of(more, depth + 1)
                for _ in range(self.r.choice([0, 1, 2]))
            })
        if self.r.random() < 0.05:
            made[self.text(20)[:100]] = self.any(depth + 1)
        return made

    # ---- bytes ----

    def body(self, schema):
        """JSON by SCHEMA, now and then with something wrong with its bytes."""
        data = json.dumps(self.of(schema)).encode()
        return self.mangle(data) if self.r.random() < 0.1 else data

    def mangle(self, data):
        data = bytearray(data)
        for _ in range(self.r.randint(1, 3)):
            at, kind = self.r.randrange(len(data) + 1), self.r.randrange(5)
            if kind == 0 and data:
                data[at % len(data)] = self.r.randrange(256)
            elif kind == 1:
                del data[at:]
            elif kind == 2:
                data[at:at] = self.r.choice(ODD_BYTES)
            elif kind == 3:
                del data[at:at + self.r.randint(1, 8)]
            else:
                data[at:at] = data[:at][-self.r.randint(1, 40):]
        return bytes(data)
