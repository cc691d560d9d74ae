# SPDX-License-Identifier: MIT
"""Holds answers to the OpenAPI document of the program that gave them.

    contract.check(PROGRAM, "GET", "/api/v1/keys?limit=5", 200, body)

service.py asks for this of every JSON answer, so whatever a test makes the service say has to be as
the document says. A member that a schema does not name is a fault, too: else a document could leave
things out. tests/sdk/test_openapi.py has the document itself judged by a validator of others.
"""

import functools
import json
import os
import re
import subprocess

# Of a checkout, or installed.
APPS = (os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps"),
        "/usr/share/tidepool/apps")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Document:
    def __init__(self, doc):
        self.doc = doc
        self.routes = []
        for path, item in doc["paths"].items():
            pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))
            self.routes.append((path.count("{"), re.compile(pattern), path, item))
        # What is spelled out goes before what takes any word.
        self.routes.sort(key=lambda route: route[0])

    def operation(self, method, path):
        """(path, operation) of the document, or None."""
        for _, pattern, name, item in self.routes:
            if pattern.fullmatch(path) and method.lower() in item:
                return name, item[method.lower()]
        return None

    def resolve(self, schema):
        while "$ref" in schema:
            node = self.doc
            for word in schema["$ref"][2:].split("/"):
                node = node[word.replace("~1", "/").replace("~0", "~")]
            schema = node
        return schema

    def faults(self, schema, value, at=""):
        """What is wrong with VALUE, a text each."""
        if schema is True:
            return []
        schema = self.resolve(schema)
        said = self.faults_of_choices(schema, value, at)
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(is_type(value, t) for t in types):
            return said + ["%s: %r is not %s" % (at or "/", value, " or ".join(types))]
        if "enum" in schema and value not in schema["enum"]:
            said.append("%s: %r is not one of %r" % (at, value, schema["enum"]))
        if "const" in schema and value != schema["const"]:
            said.append("%s: %r is not %r" % (at, value, schema["const"]))
        if isinstance(value, dict):
            return said + self.faults_of_object(schema, value, at)
        if isinstance(value, list):
            return said + [x for item in value
                           for x in self.faults(schema.get("items", True), item, at + "/*")]
        return said + faults_of_scalar(schema, value, at)

    def faults_of_choices(self, schema, value, at):
        said = [x for part in schema.get("allOf", []) for x in self.faults(part, value, at)]
        for word in ("anyOf", "oneOf"):
            tried = [self.faults(part, value, at) for part in schema.get(word, [])]
            if tried and all(tried):
                said.append("%s: none of %s: %s" % (at, word, min(tried, key=len)))
        return said

    def faults_of_object(self, schema, value, at):
        said = ["%s: no %r" % (at, name) for name in schema.get("required", [])
                if name not in value]
        known = schema.get("properties", {})
        # As in tests/sdk/openapi.mjs: an object with named members has no others.
        more = schema.get("additionalProperties", "properties" not in schema)
        for name, member in value.items():
            if name in known:
                said += self.faults(known[name], member, at + "/" + name)
            elif more is False:
                said.append("%s: %r is not in the document" % (at, name))
            elif more is not True:
                said += self.faults(more, member, at + "/*")
        return said


def faults_of_scalar(schema, value, at):
    said = []
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            said.append("%s: %r does not match %r" % (at, value, schema["pattern"]))
        if len(value) < schema.get("minLength", 0):
            said.append("%s: %r is too short" % (at, value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            said.append("%s: %r is out of range" % (at, value))
    return said


@functools.lru_cache(maxsize=None)
def document_of(program):
    """The document that PROGRAM has inside."""
    return Document(json.loads(subprocess.run([program, "__openapi"], check=True,
                                              stdout=subprocess.PIPE).stdout))


def leads_inside(target, headers):
    """True for what a service inside a sandbox answers: addressed by host, headers or path. A path
    below /sandbox/NAME is a product's when there is one of that name."""
    if any(name.lower() == "host" or name.lower().startswith("e2b-sandbox") for name in headers):
        return True
    words = target.partition("?")[0].strip("/").split("/")
    if words[:2] == ["sandboxes", "router"]:
        return True
    return words[0] == "sandbox" and len(words) > 1 and words[1] not in products()


@functools.lru_cache(maxsize=None)
def products():
    folder = next(x for x in APPS if os.path.isdir(x))
    return {"shop", "prepare", "local_dev", "localmemory", "local_memory", *os.listdir(folder)}


def check(program, method, target, status, body):
    """Fails when the JSON BODY is not what the document says of METHOD and STATUS there. Targets
    that it does not have are not its business: unknown paths, what sandboxes answer."""
    d = document_of(program)
    found = d.operation(method, target.partition("?")[0])
    if not found:
        return
    path, operation = found
    responses = operation["responses"]
    response = responses.get(str(status), responses.get("default"))
    what = "%s %s: %d" % (method, path, status)
    assert response is not None and (str(status) in responses or status >= 400), \
        what + " is not in the OpenAPI document"
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return
    value = json.loads(body)
    said = []
    if isinstance(value, dict) and status < 300 and "warnings" in value:
        said = d.faults(d.doc["x-warnings"], value.pop("warnings"), "/warnings")
    said += d.faults(schema, value)
    assert not said, "%s is not as in the OpenAPI document: %s" % (what, "; ".join(said[:5]))
