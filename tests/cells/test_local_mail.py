# SPDX-License-Identifier: MIT
"""Mail of local sandboxes through the service: tools over MCP, IMAP and SMTP over its ports."""

import base64
import imaplib
import json
import signal
import smtplib
import socket

import cells
import mail_desk
import maxima
import tap

ANN, BOB = "ann@mcp.com", "bob@mcp.com"
SERVER = mail_desk.SERVER


def acquire(s, key="", **fields):
    answer = s.post("/local-sandbox", {"server_names": [SERVER, "filesystem"], **fields},
                    timeout=120, key=key)
    tap.equal(answer.status, 201, answer)
    server = [x for x in answer.json["servers"] if x["server_name"] == SERVER][0]
    return answer.json["local_sandbox_id"], server


def call(s, server, tool, user=BOB, **arguments):
    url = server["mcp_server_url"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
               **(mail_desk.config(user) if user else {})}
    answer = s.post(url[url.index("/", len("http://")):], body, key=None, timeout=120,
                    headers=headers)
    text = answer.body.decode()
    if not text.startswith("{"):
        text = [x[6:] for x in text.splitlines() if x.startswith("data: ")][-1]
    got = json.loads(text)
    tap.equal("result" in got, True, got)
    return got["result"]["content"][0]["text"]


def imap(auth, user=BOB):
    session = imaplib.IMAP4(auth["imap_server"], auth["imap_port"], timeout=120)
    session.login(user, mail_desk.PASSWORD)
    return session


def send(auth, *messages):
    with smtplib.SMTP(auth["smtp_server"], auth["smtp_port"], timeout=120) as session:
        session.login(ANN, mail_desk.PASSWORD)
        for m in messages:
            tap.equal(session.send_message(m), {})


def test_programs_and_tools_share_mail():
    with cells.running() as s:
        local_id, server = acquire(s)
        auth = server["auth_data"]
        tap.equal(sorted(auth), ["imap_port", "imap_server", "smtp_port", "smtp_server"])
        tap.equal((auth["imap_server"], auth["smtp_server"]), ("127.0.0.1", "127.0.0.1"))
        send(auth, mail_desk.message(), mail_desk.message(subject="Second"))
        tap.contains(call(s, server, "get_emails"), "Total emails: 2")
        session = imap(auth)
        tap.equal(session.select(), ("OK", [b"2"]))
        tap.equal(session.search(None, "SUBJECT", "second")[1], [b"2"])
        tap.equal(call(s, server, "send_email", to=BOB, subject="By a tool", body="b", user=ANN),
                  "Email sent successfully to bob@mcp.com")
        session.noop()
        tap.contains(session.fetch("3", "(RFC822)")[1][0][1], b"Subject: By a tool")
        session.store("1", "+FLAGS", r"\Deleted")
        session.expunge()
        session.copy("1", "Trash")
        session.append("Drafts", None, None, b"Subject: x\r\n\r\ny")
        session.logout()
        stats = call(s, server, "get_folders")
        tap.contains(stats, "- INBOX (Total: 2, Unread: 1)\n- Drafts (Total: 1, Unread: 1)")
        tap.contains(stats, "- Trash (Total: 1, Unread: 1)")
        tap.equal(call(s, server, "export_emails", export_path="a.json"),
                  "Successfully exported 2 emails to /data/a.json")
        shown = s.get("/local-sandbox/" + local_id).json
        tap.equal([x["auth_data"] for x in shown["servers"]], [auth, None])


def test_ports_stay_over_a_restart_and_go_with_the_sandbox():
    with cells.running() as s:
        local_id, server = acquire(s, test_account_email="eve@mcp.com")
        other_id, other = acquire(s)
        auth = server["auth_data"]
        tap.equal(call(s, server, "send_email", to=BOB, subject="One", body="b", user=None),
                  "Email sent successfully to bob@mcp.com")
        for how in (signal.SIGTERM, signal.SIGKILL):
            s.signal(how)
            s.wait()
            s.start()
            session = imap(auth)
            session.select()
            tap.contains(session.fetch("1", "(RFC822)")[1][0][1], b"From: eve@mcp.com")
            session.logout()
        session = imap(other["auth_data"])
        tap.equal(session.select(), ("OK", [b"0"]))
        session.logout()
        tap.equal(s.delete("/local-sandbox/" + local_id).status, 200)

        def is_closed():
            try:
                socket.create_connection(("127.0.0.1", auth["imap_port"]), timeout=10).close()
                return False
            except ConnectionRefusedError:
                return True
        s.until(is_closed, 60)
        imap(other["auth_data"]).logout()


def greeting(auth):
    """A connection to IMAP, and what comes first: nothing when it is refused."""
    c = socket.create_connection((auth["imap_server"], auth["imap_port"]), timeout=60)
    try:
        return c, c.recv(100)
    except ConnectionResetError:
        return c, b""


def test_one_account_takes_its_connections():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_MAIL": "3"}) as s:
        ada, bob = (s.make_key(account=x)["key"] for x in ("ada", "bob"))
        first, second, other = (acquire(s, key)[1]["auth_data"] for key in (ada, ada, bob))
        held = [greeting(x) for x in (first, second, first, second, first)]
        tap.equal([text[:4] for _, text in held], [b"* OK"] * 3 + [b""] * 2)
        tap.equal(maxima.refused(s, "mail connections"), 2)
        held += [greeting(other) for _ in range(3)]
        tap.equal([text[:4] for _, text in held[5:]], [b"* OK"] * 3)
        tap.equal(maxima.used(s, "mail connections"), 6)
        for c, _ in held:
            c.close()
        s.until(lambda: maxima.used(s, "mail connections") == 0)
        c, text = greeting(first)
        c.close()
        tap.equal(text[:4], b"* OK")


def test_initialize_and_dump():
    with cells.running() as s:
        local_id, server = acquire(s)
        path = "/local-sandbox/%s/%s/" % (SERVER, server["id"])
        data = {"users": {BOB: {"emails": [
            mail_desk.letter(date="3 days before current date"),
            mail_desk.letter(folder="Work", is_read=True, attachments=[{
                "filename": "a.txt", "content": base64.b64encode(b"hi").decode()}])]}}}
        done = s.post(path + "initialize", data, timeout=120)
        tap.equal(done.status, 200, done)
        tap.contains(call(s, server, "get_folders"), "- Work (Total: 1, Unread: 0)")
        tap.equal((done.json["message"], done.json["records_created"]),
                  ("Initialized sandbox with 3 records", {"users": 1, "emails": 2}))

        def dump():
            answer = s.get(path + "dump", timeout=120)
            tap.equal(answer.status, 200, answer)
            tap.equal((answer.json["sandbox_id"], answer.json["server_name"]),
                      (server["id"], SERVER))
            return answer.json["data"]
        first = dump()
        tap.equal([x["folder"] for x in first["users"][BOB]["emails"]], ["INBOX", "Work"])
        tap.equal(s.post("/local-sandbox/%s/%s/initialize" % (SERVER, local_id), first,
                         timeout=120).status, 200)
        tap.equal(dump(), first)
        bad = s.post(path + "initialize", {"users": {BOB: {"emails": [{"subject": 1}]}}})
        tap.equal(bad.status, 422, bad)
        tap.equal(sorted(x["loc"][-1] for x in bad.json["detail"]),
                  ["from_addr", "subject", "to_addr"])
        tap.equal(s.post(path + "initialize", timeout=120).json["message"],
                  "Initialized sandbox with 0 records")
        tap.equal(dump(), first)
        default = s.post(path + "initialize?init_default_data=true", timeout=120)
        tap.equal(default.status, 200, default)
        tap.equal(list(dump()["users"]), [BOB, "mara.lind@mcp.com", "jon.abara@mcp.com",
                                          "rosa.keller@mcp.com"])
        begun = dump()
        call(s, server, "delete_email", email_id="1")
        call(s, server, "send_email", to="new@x.org", subject="Gone soon", body="b")
        tap.equal(s.post("/local-sandbox/%s/reset" % local_id, timeout=120).status, 200)
        tap.equal(dump(), begun)
        session = imap(server["auth_data"])
        tap.equal(session.select("Work"), ("OK", [b"1"]))
        session.logout()
        wrong = s.post(path + "initialize", {"users": {"a b": {}}}, timeout=120)
        tap.equal(wrong.status, 422, wrong)
        tap.equal(s.get("/local-sandbox/%s/%s/dump" % (SERVER, "0" * 36)).status, 404)


tap.main(globals())
