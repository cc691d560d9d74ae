# SPDX-License-Identifier: MIT
"""tidepool-local on a folder of its own.

    with local_tools.running(folder) as tools:
        answer = tools.call("filesystem", "read_file", {"path": "a.txt"})
        text = tools.text("terminal", "run_command", {"command": "ls"}, benchmark="MCP_Atlas")
"""

import contextlib
import http.client
import json
import os
import subprocess

import local_census
import tap


class Tools:
    def __init__(self, root, mail=None):
        self.root = root
        options = ["--mail", mail, "--imap", "127.0.0.1:0", "--smtp", "127.0.0.1:0"] if mail else []
        self.process = subprocess.Popen(
            [os.environ["TIDEPOOL_LOCAL"], "--listen", "127.0.0.1:0", "--root", root, *options],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[-1])
        if mail:
            self.imap, self.smtp = map(int, self.process.stdout.readline().split()[-2:])

    def request(self, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, body)
        answer = connection.getresponse()
        got = answer.status, answer.read()
        connection.close()
        return got

    def call(self, server, tool, arguments, **more):
        status, body = self.request("POST", "/%s/%s" % (server, tool),
                                    json.dumps({"args": arguments, **more}))
        tap.equal(status, 200, body)
        answer = json.loads(body)
        local_census.note(server, tool, answer)
        return answer

    def texts(self, server, tool, arguments, **more):
        """The texts of an answer that is no failure."""
        answer = self.call(server, tool, arguments, **more)
        tap.equal(answer["isError"], False, answer)
        return [x["text"] for x in answer["content"]]

    def text(self, *arguments, **more):
        texts = self.texts(*arguments, **more)
        tap.equal(len(texts), 1, texts)
        return texts[0]

    def failure(self, *arguments, **more):
        answer = self.call(*arguments, **more)
        tap.equal(answer["isError"], True, answer)
        return answer["content"][0]["text"]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def running(root, mail=None):
    """With a directory MAIL also serves IMAP and SMTP: see tools.imap and tools.smtp."""
    tools = Tools(root, mail)
    try:
        yield tools
    finally:
        tools.close()
