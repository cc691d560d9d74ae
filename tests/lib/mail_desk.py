# SPDX-License-Identifier: MIT
"""What the tests of mail share: sessions, tools called as somebody, letters of imports."""

import base64
import contextlib
import imaplib
import json
import os
import shutil
import smtplib
import tempfile
from email.message import EmailMessage

import local_tools

SERVER = "poste_email_toolathlon"
PASSWORD = "sea side 1"


def config(email, password=PASSWORD, name=None):
    value = {"email": email, "password": password, "name": name}
    return {"x-email-config": base64.b64encode(json.dumps(value).encode()).decode()}


class Desk:
    """tidepool-local with mail, and its tools as one user or another."""

    def __init__(self, tools):
        self.tools = tools
        self.root = tools.root

    def call(self, who, tool, **arguments):
        headers = config(who) if isinstance(who, str) else who or {}
        return self.tools.text(SERVER, tool, arguments, headers=headers)

    def imap(self, user, password=PASSWORD):
        session = imaplib.IMAP4("127.0.0.1", self.tools.imap, timeout=120)
        session.login(user, password)
        return session

    def connect_smtp(self):
        return smtplib.SMTP("127.0.0.1", self.tools.smtp, timeout=120)


@contextlib.contextmanager
def desk(mail=None):
    """With a directory MAIL the store is that one and stays."""
    folder = os.path.realpath(tempfile.mkdtemp())
    root = os.path.join(folder, "data")
    os.mkdir(root)
    try:
        with local_tools.running(root, mail or os.path.join(folder, "mail")) as tools:
            yield Desk(tools)
    finally:
        shutil.rmtree(folder)


def message(to="bob@mcp.com", subject="Tide tables", text="High water at six.\n", **fields):
    m = EmailMessage()
    m["From"] = fields.pop("sender", "ann@mcp.com")
    m["To"] = to
    m["Subject"] = subject
    for name, value in fields.items():
        m[name] = value
    m.set_content(text)
    return m


def letter(**fields):
    """A message of an import."""
    return {"subject": "Tide tables", "from_addr": "ann@mcp.com", "to_addr": "bob@mcp.com",
            "body_text": "High water at six.", **fields}
