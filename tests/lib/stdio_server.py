# SPDX-License-Identifier: MIT
"""A small MCP server over its input and output, whose tools misbehave when they are told to. It
needs nothing but Python, so that it can be put into a cell as it is."""

import json
import os
import sys
import threading
import time

LOCK = threading.Lock()
CANCELLED = set()


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def wait(message, arguments):
    """Answers when the file is there; tells of progress before."""
    token = message["params"].get("_meta", {}).get("progressToken")
    if token is not None:
        for i in range(3):
            send({"method": "notifications/progress",
                  "params": {"progressToken": token, "progress": i, "total": 3}})
    while not os.path.exists(arguments["path"]):
        if message["id"] in CANCELLED:
            return text("cancelled")
        time.sleep(0.01)
    return text("there")


def call(message, name, arguments):
    if name == "echo":
        return text(arguments["text"])
    if name == "where":
        return text("%s %s %d" % (os.getcwd(), os.environ.get("GREETING"), os.getpid()))
    if name == "wait":
        return wait(message, arguments)
    if name == "write":  # to where no message is
        os.write(arguments["fd"], arguments["text"].encode() * arguments.get("times", 1))
        return text("written")
    if name == "tell":
        send({"method": "notifications/message", "params": {"level": "info", "data": "told"}})
        return text("told")
    if name == "ask":
        send({"id": "mine", "method": arguments["method"], "params": {}})
        return text("asked")
    if name == "exit":
        os._exit(arguments["status"])
    return {**text("no tool " + name), "isError": True}


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": "small", "version": "1"}, "instructions": "Be kind."}
    if method == "tools/list":
        return {"tools": [{"name": "echo", "description": "Says it again",
                           "inputSchema": {"type": "object", "properties": {
                               "text": {"type": "string"}}, "required": ["text"]}}]}
    if method == "tools/call":
        return call(message, params["name"], params.get("arguments", {}))
    return None


def serve(message):
    result = answer(message)
    if result is None:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    else:
        send({"id": message["id"], "result": result})


def main():
    print("ready", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            CANCELLED.add(message["params"]["requestId"])
        elif "method" not in message or "id" not in message:
            print("got " + json.dumps(message), file=sys.stderr, flush=True)
        else:
            threading.Thread(target=serve, args=(message,), daemon=True).start()


main()
