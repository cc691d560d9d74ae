# SPDX-License-Identifier: MIT
"""A small web site that is served from inside of a sandbox: a page with everything that pages load
by relative addresses, and answers that try to reach beyond it.

    python3 site.py NAME PORT       (beside web_app.py; goes on in the background)
"""

import json
import os
import sys

import web_app

NAME = sys.argv[1]
FILES = {
    "/": ("text/html", """<!doctype html><html><head><title>%s</title>
<link rel="stylesheet" href="style.css"><script src="plain.js"></script>
<script type="module" src="module.js"></script></head>
<body><img id="dot" src="dot.svg"><form action="sent" method="post"><input name="a" value="1">
<button>go</button></form><a href="second">second</a></body></html>""" % NAME),
    "/second": ("text/html", "<!doctype html><html><head><title>second</title></head></html>"),
    "/sent": ("text/html", "<!doctype html><html><head><title>sent</title></head></html>"),
    "/style.css": ("text/css", "body { color: rgb(1, 2, 3) }"),
    "/plain.js": ("text/javascript", "window.plain = 'yes'"),
    "/module.js": ("text/javascript", "import { part } from './part.js'; window.module = part"),
    "/part.js": ("text/javascript", "export const part = 'yes'"),
    "/worker.js": ("text/javascript", ""),
    "/dot.svg": ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'>"
                 "</svg>"),
    "/data.json": ("application/json", json.dumps({"secret": NAME})),
}
hits = []


class Handler(web_app.Handler):
    def on_hits(self):
        """What was asked for so far, but for this."""
        self.send(json.dumps(hits).encode(), "application/json")

    def on_reach(self):
        """An answer that would change what the browser keeps for others."""
        self.read_body()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "2")
        self.send_header("Clear-Site-Data", '"cookies", "storage", "cache"')
        self.send_header("Service-Worker-Allowed", "/")
        self.send_header("Access-Control-Allow-Origin", "null")
        self.send_header("Access-Control-Allow-Credentials", "true")
        for cookie in ("root=1; Path=/", "other=1; Path=/sandbox/b/", "up=1; Domain=pool.test",
                       "own=1", "tidepool_view=x; Path=/sandbox/b/", "tidepool_key=x; Path=/"):
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(b"ok")

    def on_poison(self):
        """Asks to be kept by the browser for good."""
        self.send(b"<title>poisoned</title>", "text/html", Cache_Control="max-age=86400",
                  Access_Control_Allow_Origin="*")

    def handle_any(self):
        path = self.path.split("?")[0]
        if path != "/hits":
            hits.append("%s %s" % (self.command, path))
        if self.headers.get("X-Poison"):
            self.on_poison()
        elif path in FILES:
            self.read_body()
            kind, text = FILES[path]
            self.send(text.encode(), kind)
        else:
            super().handle_any()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any


if __name__ == "__main__":
    server = web_app.Server(("127.0.0.1", int(sys.argv[2])), Handler)
    if os.fork() > 0:
        os._exit(0)
    server.serve_forever()
