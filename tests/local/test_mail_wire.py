# SPDX-License-Identifier: MIT
"""Mail as programs see it: Python's imaplib and smtplib, unchanged, and what is malformed."""

import email
import imaplib
import os
import re
import shutil
import smtplib
import socket
import tempfile
import threading

import mail_desk
import tap

ANN, BOB = "ann@mcp.com", "bob@mcp.com"


def send(desk, *messages, login=True):
    with desk.connect_smtp() as s:
        if login:
            s.login(ANN, mail_desk.PASSWORD)
        for m in messages:
            tap.equal(s.send_message(m), {})


def talk(port, *parts):
    """Sends raw bytes and no more; all that came back."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as s:
        got = b""
        for part in parts:
            s.sendall(part)
        s.shutdown(socket.SHUT_WR)
        while True:
            data = s.recv(65536)
            if not data:
                return got
            got += data


# ---- SMTP ----

def test_smtp_delivers():
    with mail_desk.desk() as desk:
        m = mail_desk.message(to="bob@mcp.com, Cid <cid@elsewhere.org>", subject="Ebbe und Flüt",
                              text="zwölf\n.\n..two dots\n", Bcc="dan@mcp.com")
        m.add_attachment(bytes(range(256)) * 50, maintype="application", subtype="pdf",
                         filename="plän.pdf")
        send(desk, m)
        for user in (BOB, "cid@elsewhere.org", "dan@mcp.com"):
            session = desk.imap(user)
            tap.equal(session.select(), ("OK", [b"1"]))
            got = email.message_from_bytes(session.fetch("1", "(RFC822)")[1][0][1],
                                           policy=email.policy.default)
            tap.equal((got["Subject"], got["Bcc"], got["To"]),
                      ("Ebbe und Flüt", None, "bob@mcp.com, Cid <cid@elsewhere.org>"))
            tap.equal(got["Return-Path"], "<ann@mcp.com>")
            tap.contains(got["Received"], "with ESMTPA id")
            tap.equal(bool(got["Date"] and got["Message-ID"]), True)
            tap.equal(got.get_body().get_content().replace("\r", ""), "zwölf\n.\n..two dots\n")
            part, = got.iter_attachments()
            tap.equal((part.get_filename(), part.get_content()), ("plän.pdf",
                                                                  bytes(range(256)) * 50))
            session.logout()
        tap.contains(desk.call(BOB, "get_emails"), "Subject: Ebbe und Flüt")


def test_smtp_says_what_is_wrong():
    with mail_desk.desk() as desk:
        send(desk, mail_desk.message())
        with desk.connect_smtp() as s:
            try:
                s.login(ANN, "wrong")
                raise AssertionError("a wrong password was taken")
            except smtplib.SMTPAuthenticationError as e:
                tap.equal(e.smtp_code, 535)
            tap.equal(s.docmd("STARTTLS")[0], 500)
            tap.equal(s.docmd("DATA")[0], 503)
            tap.equal(s.docmd("RCPT", "TO:<a@b>")[0], 503)
            tap.equal(s.mail("no address")[0], 501)
            tap.equal(s.docmd("MAIL", "FROM:<a@b.c> SIZE=999999999")[0], 552)
            tap.equal(s.mail("a@b.c")[0], 250)
            tap.equal(s.rcpt("nobody")[0], 501)
            tap.equal(s.rcpt("../../etc@b.c")[0], 501)
            for i in range(500):
                tap.equal(s.rcpt("u%d@b.c" % i)[0], 250)
            tap.equal(s.rcpt("one.more@b.c")[0], 452)
            tap.equal(s.rset()[0], 250)
            tap.equal(s.vrfy("a@b.c")[0], 252)
            tap.equal(s.noop()[0], 250)
        got = talk(desk.tools.smtp, b"EHLO x\r\n" + b"x" * 5000 + b"\r\n")
        tap.contains(got, b"500 5.5.2 The line is too long")
        got = talk(desk.tools.smtp, b"NOPE\r\n" * 60)
        tap.contains(got, b"421 4.7.0 Too many errors")
        tap.equal(got.count(b"500 5.5.2"), 50)


def test_smtp_in_one_piece_and_without_login():
    with mail_desk.desk() as desk:
        got = talk(desk.tools.smtp,
                   b"EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<%s>\r\nDATA\r\n" % BOB.encode() +
                   b"Subject: x\r\n\r\nbody\n.\nstill\r\n.\r\nQUIT\r\n")
        tap.equal(re.findall(rb"(?m)^([0-9]{3}) ", got),
                  [b"220", b"250", b"250", b"250", b"354", b"250", b"221"])
        tap.contains(desk.call(BOB, "read_email", email_id="1"), "Body:\nbody\n.\nstill\n")


def test_smtp_refuses_what_is_too_large():
    with mail_desk.desk() as desk:
        with desk.connect_smtp() as s:
            s.ehlo()
            s.mail("a@b.c")
            s.rcpt(BOB)
            code, _ = s.data(b"Subject: x\r\n\r\n" + (b"x" * 998 + b"\r\n") * 33600)
            tap.equal(code, 552)
            s.sendmail("a@b.c", [BOB], b"Subject: small\r\n\r\nx\r\n")
        tap.contains(desk.call(BOB, "get_emails"), "Total emails: 1")


# ---- IMAP ----

def test_imap_fetch_store_copy_expunge():
    with mail_desk.desk() as desk:
        send(desk, *[mail_desk.message(subject="Number %d" % i) for i in range(1, 5)])
        s = desk.imap(BOB)
        tap.equal(s.select("INBOX"), ("OK", [b"4"]))
        tap.equal(s.response("UIDNEXT")[1], [b"5"])
        tap.equal(s.search(None, "UNSEEN")[1], [b"1 2 3 4"])
        tap.equal(s.fetch("2", "(BODY.PEEK[HEADER.FIELDS (SUBJECT)])")[1][0][1],
                  b"Subject: Number 2\r\n\r\n")
        tap.equal(s.search(None, "SEEN")[1], [b""])
        text = s.fetch("2", "(BODY[TEXT])")[1][0][1]
        tap.equal(text, b"High water at six.\r\n")
        tap.equal(s.fetch("2", "(BODY.PEEK[1]<5.5>)")[1][0], (b"2 (BODY[1]<5> {5}", b"water"))
        tap.equal(s.search(None, "SEEN")[1], [b"2"])
        tap.equal(s.store("1:2", "+FLAGS", r"(\Flagged $tide)")[0], "OK")
        tap.contains(s.fetch("1", "(FLAGS UID)")[1][0], rb"FLAGS (\Flagged $tide \Recent) UID 1")
        tap.equal(s.search(None, "KEYWORD", "$tide")[1], [b"1 2"])
        tap.equal(s.store("1:2", "-FLAGS.SILENT", r"\Flagged"), ("OK", [None]))
        tap.equal(s.copy("1,3:*", "Trash")[0], "OK")
        tap.equal(s.status("Trash", "(MESSAGES UNSEEN UIDNEXT)")[1],
                  [b'"Trash" (MESSAGES 3 UNSEEN 3 UIDNEXT 4)'])
        tap.equal(s.copy("1", "Nowhere")[0], "NO")
        s.store("1,3", "+FLAGS", r"\Deleted")
        tap.equal(s.expunge(), ("OK", [b"1", b"2"]))
        tap.equal(s.uid("SEARCH", "ALL")[1], [b"2 4"])
        tap.equal(s.uid("FETCH", "4", "(UID RFC822.SIZE)")[1][0].split()[:4],
                  [b"2", b"(UID", b"4", b"RFC822.SIZE"])
        s.store("1:2", "+FLAGS", r"\Deleted")
        tap.equal(s.uid("EXPUNGE", "4")[0], "OK")
        tap.equal(s.uid("SEARCH", "ALL")[1], [b"2"])
        tap.equal(s.close()[0], "OK")
        tap.equal(s.select("INBOX"), ("OK", [b"0"]))
        tap.equal(s.select("Trash", readonly=True), ("OK", [b"3"]))
        tap.equal(s.store("1", "+FLAGS", r"\Seen")[0], "NO")
        tap.equal(s._simple_command("MOVE", "1", "INBOX")[0], "NO")
        s.select("Trash")
        tap.equal(s._simple_command("MOVE", "1", "INBOX")[0], "OK")
        tap.equal(s.status("Trash", "(MESSAGES)")[1], [b'"Trash" (MESSAGES 2)'])
        s.logout()


def test_imap_structure():
    with mail_desk.desk() as desk:
        m = mail_desk.message(sender='"Müller, Ann" <ann@mcp.com>', to="Bob <bob@mcp.com>",
                              Cc="team: a@b.c, d@e.f;")
        m.add_alternative("<p>Hi</p>", subtype="html")
        inner = mail_desk.message(subject="inside")
        m.add_attachment(inner)
        m.add_attachment(b"\0\1", maintype="image", subtype="png", filename="a.png")
        send(desk, m)
        s = desk.imap(BOB)
        s.select()
        got = b"".join(x if isinstance(x, bytes) else x[0] + x[1] for x in
                       s.fetch("1", "(ENVELOPE BODYSTRUCTURE)")[1])
        for part in (b'"Tide tables"', b'NIL "ann" "mcp.com"', b'(("Bob" NIL "bob" "mcp.com"))',
                     b'(NIL NIL "team" NIL)(NIL NIL "a" "b.c")(NIL NIL "d" "e.f")(NIL NIL NIL NIL)',
                     b'("text" "plain" ("charset" "utf-8") NIL NIL "7bit" 20 1',
                     b'"alternative"', b'("message" "rfc822"', b'"inside"',
                     b'("image" "png" NIL NIL NIL "base64"',
                     b'("attachment" ("filename" "a.png"))'):
            tap.contains(got, part)
        tap.equal(s.fetch("1", "(BODY.PEEK[1.2])")[1][0][1].strip(), b"<p>Hi</p>")
        tap.contains(s.fetch("1", "(BODY.PEEK[2.HEADER])")[1][0][1], b"Subject: inside\r\n")
        tap.contains(s.fetch("1", "(BODY.PEEK[2.TEXT])")[1][0][1], b"High water at six.")
        tap.contains(s.fetch("1", "(BODY.PEEK[3.MIME])")[1][0][1], b"Content-Type: image/png")
        tap.contains(s.fetch("1", "(BODY.PEEK[7])")[1][0], b"BODY[7] NIL")
        tap.contains(s.fetch("1", "FULL")[1][0], b"INTERNALDATE")
        s.logout()


def test_imap_search():
    with mail_desk.desk() as desk:
        s = desk.imap(BOB)
        dates = ["1-Jan-2026 00:30:00 +0100", "15-Feb-2026 12:00:00 +0000"]
        for i, date in enumerate(dates):
            m = mail_desk.message(subject="Grüße %d" % i, text="größer\n" * (i * 100 + 1),
                                  Date="Thu, 0%d Jan 2026 00:30:00 +0100" % (i + 1))
            tap.equal(s.append("INBOX", r"(\Seen)" if i else None, '"%s"' % date, m.as_bytes())[0],
                      "OK")
        s.select()
        for want, *criteria in (
                (b"1 2", "ALL"), (b"1", "UNSEEN"), (b"2", "NOT", "UNSEEN"), (b"1 2", "OR", "SEEN",
                                                                             "UNSEEN"),
                (b"1", "BEFORE", "1-Jan-2026"), (b"2", "ON", "15-Feb-2026"), (b"2", "SINCE",
                                                                              "2-Jan-2026"),
                (b"1", "SENTON", "1-Jan-2026"), (b"2", "SENTSINCE", "02-Jan-2026"),
                (b"1", "SMALLER", "600"), (b"2", "LARGER", "600"), (b"1 2", "FROM", "ANN@"),
                (b"", "FROM", "cid"), (b"1 2", "TO", "bob"), (b"2", "(SUBJECT", '"1")'),
                (b"1 2", "HEADER", "Subject", '""'), (b"", "HEADER", "X-None", '""'),
                (b"2", "2:*"), (b"1 2", "UID", "1:5"), (b"1", "1", "NOT", "DELETED"),
                (b"1 2", "(OR (SEEN LARGER 1) (UNSEEN SMALLER 100000))")):
            tap.equal(s.search(None, *criteria)[1], [want], criteria)
        tap.equal(s.search("UTF-8", "SUBJECT", '"GRÜSSE 1"'.encode())[1], [b""])
        tap.equal(s.search("UTF-8", "SUBJECT", '"grÜße 1"'.encode())[1], [b"2"])
        s.literal = "größer".encode()
        tap.equal(s.search("UTF-8", "BODY")[1], [b"1 2"])
        tap.equal(s.search("ISO-8859-1", "BODY", '"größer"'.encode("latin-1"))[1], [b"1 2"])
        tap.equal(s._simple_command("SEARCH", "CHARSET", "KLINGON", "ALL")[0], "NO")
        s.logout()


def test_imap_folders():
    with mail_desk.desk() as desk:
        s = desk.imap(BOB)
        for name in ('"Work/A"', "Work", "&AOQA9g- x"):
            tap.equal(s.create('"%s"' % name.strip('"'))[0], "OK")
        tap.equal(s.create("Work")[0], "NO")
        tap.equal(s.create('"a//b"')[0], "NO")
        tap.contains(desk.call(BOB, "get_folders"), "- äö x (Total: 0, Unread: 0)")
        names = [x.split(b'"/" ')[1] for x in s.list()[1]]
        tap.equal(names, [b'"INBOX"', b'"Drafts"', b'"Sent"', b'"Junk"', b'"Trash"', b'"Work/A"',
                          b'"Work"',
                          b'"&AOQA9g- x"'])
        tap.equal(len(s.list('""', "%")[1]), 7)
        tap.equal(s.list('""', "*k/%")[1], [rb'(\HasNoChildren) "/" "Work/A"'])
        tap.equal(s.list('""', '""')[1], [rb'(\Noselect) "/" ""'])
        tap.equal(s.rename("Work", "Play")[0], "OK")
        tap.equal([x.split()[-1] for x in s.list("Play", "*")[1]], [b'"Play/A"', b'"Play"'])
        tap.equal(s.rename("INBOX", "x")[0], "NO")
        tap.equal(s.unsubscribe("Play")[0], "OK")
        tap.equal(len(s.lsub()[1]), 7)
        tap.equal(s.subscribe("Play")[0], "OK")
        tap.equal(s.delete("Play/A")[0], "OK")
        tap.equal(s.delete("INBOX")[0], "NO")
        tap.equal(s.select("Nope")[0], "NO")
        tap.equal(s.enable("CONDSTORE")[0], "OK")
        tap.equal(s.namespace()[1], [b'(("" "/")) NIL NIL'])
        s.logout()


def test_imap_sessions_see_each_other():
    with mail_desk.desk() as desk:
        a, b = desk.imap(BOB), desk.imap(BOB)
        a.select()
        b.select()
        send(desk, mail_desk.message(), mail_desk.message())
        tap.equal(a.noop()[0], "OK")
        tap.equal(a.response("EXISTS")[1][-1], b"2")
        b.noop()
        b.store("1", "+FLAGS", r"(\Deleted \Flagged)")
        a.noop()
        tap.contains(a.response("FETCH")[1][-1], rb"\Flagged")
        b.expunge()
        tap.equal(a.fetch("2", "(UID)")[1], [b"2 (UID 2)"])
        a.noop()
        tap.equal(a.response("EXPUNGE")[1], [b"1"])
        tap.equal(a.fetch("1", "(UID)")[1], [b"1 (UID 2)"])
        desk.call(BOB, "delete_email", email_id="1")
        a.noop()
        tap.equal(a.response("EXPUNGE")[1], [b"1"])
        a.logout()
        b.logout()


def test_imap_idle():
    with mail_desk.desk() as desk:
        s = desk.imap(BOB)
        s.select()
        s.send(b"x1 IDLE\r\n")
        tap.equal(s.readline(), b"+ idling\r\n")
        thread = threading.Thread(target=send, args=(desk, mail_desk.message()))
        thread.start()
        tap.equal(s.readline(), b"* 1 EXISTS\r\n")
        tap.equal(s.readline(), b"* 1 RECENT\r\n")
        thread.join()
        s.send(b"DONE\r\n")
        tap.equal(s.readline(), b"x1 OK IDLE completed\r\n")
        s.logout()


def test_imap_literals_and_logins():
    with mail_desk.desk() as desk:
        plain = imaplib.IMAP4("127.0.0.1", desk.tools.imap, timeout=120)
        tap.equal(plain.authenticate("PLAIN", lambda _: b"\0bob@mcp.com\0" +
                                     mail_desk.PASSWORD.encode())[0], "OK")
        plain.logout()
        got = talk(desk.tools.imap, b"a LOGIN {11+}\r\nbob@mcp.com {10+}\r\nsea side 1\r\n"
                                    b"b APPEND INBOX {14+}\r\nSubject: x\r\n\r\n\r\n"
                                    b"c SELECT \"INBOX\"\r\nd FETCH 1 RFC822.SIZE\r\ne LOGOUT\r\n")
        for part in (b"a OK", b"b OK [APPENDUID ", b"c OK [READ-WRITE]",
                     b"* 1 FETCH (RFC822.SIZE 14)",
                     b"e OK"):
            tap.contains(got, part)
        try:
            desk.imap(BOB, "wrong")
            raise AssertionError("a wrong password was taken")
        except imaplib.IMAP4.error as e:
            tap.contains(str(e), "AUTHENTICATIONFAILED")


def test_imap_says_what_is_wrong():
    with mail_desk.desk() as desk:
        login = b"a LOGIN bob@mcp.com x\r\nb SELECT INBOX\r\n"
        for line, want in (
                (b"z NOPE\r\n", b"z BAD Unknown command"), (b"\r\n", b"* BAD Unknown command"),
                (b"z FETCH 1\r\n", b"z BAD Malformed"), (b"z FETCH 0 UID\r\n", b"z BAD"),
                (b"z FETCH 1 (BODY[HEADER.FIELDS ()])\r\n", b"z BAD"), (b"z FETCH 1 (UID\r\n",
                                                                        b"z BAD"),
                (b"z STORE 1 FLAGZ x\r\n", b"z BAD"), (b"z SEARCH NOT\r\n", b"z BAD"),
                (b"z SEARCH SINCE yesterday\r\n", b"z BAD"), (b"z SEARCH " + b"(" * 100 + b"\r\n",
                                                              b"z BAD"),
                (b"z LOGIN a b\r\n", b"z BAD Not in this state"), (b"z UID NOOP\r\n", b"z BAD"),
                (b"z APPEND INBOX {99999999999}\r\n", b"* BYE The literal is too large"),
                (b"x" * 70000, b"* BYE The line is too long"), (b"z NOPE\r\n" * 60,
                                                                b"* BYE Too many errors"),
                (b"z LIST \"\" \"\\\r\n", b"z BAD")):
            tap.contains(talk(desk.tools.imap, login + line), want)
        tap.contains(talk(desk.tools.imap, b"z SELECT INBOX\r\n"), b"z BAD Not in this state")
        tap.contains(talk(desk.tools.imap, b"z LOGIN {5000+}\r\n"),
                     b"* BYE The literal is too large")


def test_connections_have_a_limit():
    with mail_desk.desk() as desk:
        open_ones = []
        try:
            for _ in range(64):
                s = socket.create_connection(("127.0.0.1", desk.tools.imap), timeout=120)
                open_ones.append(s)
                tap.contains(s.recv(1000), b"* OK")
            with socket.create_connection(("127.0.0.1", desk.tools.imap), timeout=120) as s:
                tap.equal(s.recv(1000), b"* BYE Too many connections\r\n")
        finally:
            for s in open_ones:
                s.close()


# ---- the disk ----

def test_mail_survives_the_process():
    folder = tempfile.mkdtemp()
    try:
        store = os.path.join(folder, "mail")
        with mail_desk.desk(store) as desk:
            send(desk, mail_desk.message(), mail_desk.message(subject="Second"))
            s = desk.imap(BOB)
            s.create("Work")
            s.select()
            s.store("1", "+FLAGS", r"(\Flagged $tide)")
            s.copy("2", "Work")
            s.store("2", "+FLAGS", r"\Deleted")
            s.expunge()
            validity = s.response("UIDVALIDITY")[1]
        journal = os.path.join(store, "bob%40mcp.com", "journal")
        with open(journal, "a") as f:
            f.write("D 1 1 and no end of the li")
        with mail_desk.desk(store) as desk:
            s = desk.imap(BOB)
            s.select()
            tap.equal((s.response("UIDVALIDITY")[1], s.response("UIDNEXT")[1]), (validity, [b"3"]))
            tap.contains(s.fetch("1", "(UID FLAGS)")[1][0], rb"UID 1 FLAGS (\Flagged $tide")
            tap.equal(s.select("Work"), ("OK", [b"1"]))
            tap.contains(s.fetch("1", "(RFC822)")[1][0][1], b"Subject: Second")
            for _ in range(1500):
                s.store("1", "FLAGS.SILENT", r"\Seen")
                s.store("1", "FLAGS.SILENT", r"\Answered")
            tap.equal(os.path.getsize(journal) < 50000, True, os.path.getsize(journal))
        with mail_desk.desk(store) as desk:
            s = desk.imap(BOB)
            tap.equal(s.select("Work"), ("OK", [b"1"]))
            tap.contains(s.fetch("1", "(FLAGS)")[1][0], rb"FLAGS (\Answered \Recent)")
            try:
                desk.imap(BOB, "wrong")
                raise AssertionError("the password was forgotten")
            except imaplib.IMAP4.error:
                pass
    finally:
        shutil.rmtree(folder)


tap.main(globals())
