# SPDX-License-Identifier: MIT
"""The tools of mail: each of them, and how they fail."""

import base64
import json
import os
import re
import time

import mail_desk as mailbox
import tap

ANN, BOB = "ann@mcp.com", "bob@mcp.com"


def fill(desk, *letters, who=BOB, **arguments):
    arguments.setdefault("preserve_folders", True)
    return desk.call(who, "import_emails", json_string=json.dumps({"emails": list(letters)}),
                     **arguments)


# ---- sending ----

def test_what_is_sent_arrives():
    with mailbox.desk() as desk:
        with open(os.path.join(desk.root, "chart.txt"), "w") as f:
            f.write("a chart\n")
        sent = desk.call(mailbox.config(ANN, name="Ann Müller"), "send_email", to=BOB + ", c@x.org",
                         subject="Grüße", body="Hello Bob\nbye", html_body="<p>Hello</p>",
                         bcc="dan@mcp.com", attachments=["chart.txt"])
        tap.equal(sent, "Email sent successfully to bob@mcp.com, c@x.org")
        got = desk.call(BOB, "read_email", email_id="1")
        for part in ("Subject: Grüße\n", "From: Ann Müller <ann@mcp.com>\n",
                     "To: bob@mcp.com, c@x.org\n",
                     "  - chart.txt (application/octet-stream, 8 bytes)",
                     "\nBody:\nHello Bob\nbye\nHTML Body:\n<p>Hello</p>"):
            tap.contains(got, part)
        tap.equal("dan@mcp.com" in desk.call(BOB, "get_email_headers", email_id="1"), False)
        tap.contains(desk.call("dan@mcp.com", "get_emails"), "Subject: Grüße")
        tap.contains(desk.call("c@x.org", "get_emails"), "Total emails: 1")
        copy = desk.call(ANN, "read_email", email_id="1", folder="Sent")
        tap.contains(copy, "BCC: dan@mcp.com\n")


def test_sending_says_what_is_wrong():
    with mailbox.desk() as desk:
        def send(**arguments):
            return desk.call(ANN, "send_email", subject="s", body="b", **arguments)
        start = "Error sending email: Failed to send email: "
        tap.equal(send(to="bob"), start + "Invalid TO addresses: Invalid email addresses: bob")
        tap.equal(send(to=""), start + "Invalid TO addresses: Email list cannot be empty")
        tap.equal(send(to=BOB, cc="x@y"),
                  start + "Invalid CC addresses: Invalid email addresses: x@y")
        tap.equal(send(to=BOB, bcc="x, @"), start + "Invalid BCC addresses: "
                                                 "Invalid email addresses: x, ")
        tap.equal(send(to=BOB, attachments=["none.txt"]),
                  start + "Attachment error: File does not exist: none.txt")
        tap.contains(send(to=BOB, attachments=["/etc/passwd"]),
                     start + "Attachment error: Access denied - path outside allowed directories")
        tap.equal(desk.call(BOB, "get_emails"), "No emails found in folder 'INBOX'")


def test_a_field_stays_one_field():
    with mailbox.desk() as desk:
        desk.call(ANN, "send_email", to=BOB, subject="x\r\nBcc: eve@mcp.com\r\n\r\nbody", body="b")
        headers = desk.call(BOB, "get_email_headers", email_id="1")
        tap.contains(headers, "Subject: xBcc: eve@mcp.combody\n")
        tap.equal("\nBcc:" in headers, False)


def test_reply_and_forward():
    with mailbox.desk() as desk:
        fill(desk, mailbox.letter(to_addr="bob@mcp.com, Cid <cid@mcp.com>",
                                  from_addr="Ann <ann@mcp.com>",
                                  date="Mon, 02 Nov 2026 10:00:00 +0000",
                                  message_id="<one@mcp.com>",
                                  attachments=[{"filename": "t.csv", "content_type": "text/csv",
                                                "content": base64.b64encode(b"1,2\n").decode()}]))
        tap.equal(desk.call(BOB, "reply_email", email_id="1", body="Thanks", reply_all=True),
                  "Reply sent successfully to Ann <ann@mcp.com>")
        got = desk.call(ANN, "read_email", email_id="1")
        tap.contains(got, "Subject: Re: Tide tables\n")
        tap.contains(got, "CC: Cid <cid@mcp.com>\n")
        tap.contains(got, "Thanks\n\n--- Original Message ---\nFrom: Ann <ann@mcp.com>\n"
                          "Date: Mon, 02 Nov 2026 10:00:00 +0000\nSubject: Tide tables\n\n"
                          "High water at six.")
        tap.contains(desk.call(ANN, "get_email_headers", email_id="1"),
                     "In-Reply-To: <one@mcp.com>\n")
        tap.equal(desk.call(BOB, "forward_email", email_id="1", to="dan@mcp.com", body="See below"),
                  "Email forwarded successfully to dan@mcp.com")
        got = desk.call("dan@mcp.com", "read_email", email_id="1")
        tap.contains(got, "Subject: Fwd: Tide tables\n")
        tap.contains(got, "  - t.csv (text/csv, 4 bytes)\n")
        tap.contains(got, "See below\n\n--- Forwarded Message ---\nFrom: Ann <ann@mcp.com>\n"
                          "To: bob@mcp.com, Cid <cid@mcp.com>\n")
        tap.equal(desk.call(BOB, "reply_email", email_id="9", body="b"),
                  "Error replying to email: Failed to reply to email: "
                  "No email content found for email 9")
        tap.equal(desk.call(BOB, "forward_email", email_id="1", to="nobody"),
                  "Error forwarding email: Failed to forward email: "
                  "Invalid TO addresses: Invalid email addresses: nobody")


# ---- reading ----

def test_pages_of_a_folder():
    with mailbox.desk() as desk:
        tap.equal(fill(desk, *[mailbox.letter(subject="Number %d" % i, is_read=i != 3) for i in
                               range(1, 26)]), "Successfully imported 25/25 emails to INBOX")
        got = desk.call(BOB, "get_emails")
        tap.equal(got.splitlines()[:5], ["Emails in INBOX (Page 1/2):", "Total emails: 25", "",
                                         "1. ID: 25", "   Subject: Number 25"])
        got = desk.call(BOB, "get_emails", page=9, page_size=10)
        tap.contains(got, "(Page 3/3)")
        tap.contains(got, "23. ID: 3 [UNREAD]\n   Subject: Number 3\n")
        tap.equal(re.findall("ID: ([0-9]+)", got), ["5", "4", "3", "2", "1"])
        tap.contains(desk.call(BOB, "get_emails", page=-1, page_size=1000), "(Page 1/1)")
        tap.equal(desk.call(BOB, "get_emails", folder="Nope"),
                  "Error getting emails: Failed to get emails: Error selecting folder 'Nope': "
                  "Failed to select folder 'Nope': NO")


def test_reading_marks_as_read():
    with mailbox.desk() as desk:
        fill(desk, mailbox.letter())
        tap.equal(desk.call(BOB, "get_unread_count", folder_name="INBOX"),
                  "Unread messages in INBOX: 1")
        desk.call(BOB, "get_email_headers", email_id="1")
        tap.equal(desk.call(BOB, "get_unread_count"), "Total unread messages: 1")
        tap.contains(desk.call(BOB, "read_email", email_id="1"), "Status: Read\n")
        tap.equal(desk.call(BOB, "get_unread_count"), "Total unread messages: 0")
        for email_id in ("0", "2", "x", "-1", "99999999999999999999"):
            tap.equal(desk.call(BOB, "read_email", email_id=email_id),
                      "Error reading email: Failed to read email %s: No email content found for "
                      "email %s" % (email_id, email_id))
        tap.equal(desk.call(BOB, "get_email_headers", email_id="2"),
                  "Error getting email headers: No email content found for email 2")
        tap.contains(desk.call(BOB, "get_unread_count", folder_name="x"),
                     "Error getting unread count: Failed to get unread count: Error selecting")


def test_search():
    with mailbox.desk() as desk:
        fill(desk, mailbox.letter(subject="Größe des Netzes", is_read=True),
             mailbox.letter(body_text="ein GROSSES netz", from_addr="cid@mcp.com"),
             mailbox.letter(body_html="<b>Net</b> weight", body_text=None, is_important=True))

        def ids(query, **more):
            return re.findall("ID: ([0-9]+)", desk.call(BOB, "search_emails", query=query, **more))
        tap.equal(ids("größe DES"), ["1"])
        tap.equal(ids("netz"), ["2", "1"])
        tap.equal(ids("net", page=2, page_size=2), ["1"])
        tap.equal(ids("from:cid netz"), ["2"])
        tap.equal(ids("is:unread subject:\"tide tables\""), ["3", "2"])
        tap.equal(ids("is:important"), ["3"])
        tap.equal(ids("cid@mcp.com"), ["2"])
        tap.equal(desk.call(BOB, "search_emails", query="absent"),
                  "No emails found matching query: absent")
        start = "Error searching emails: Failed to search emails: "
        tap.equal(desk.call(BOB, "search_emails", query=" "),
                  start + "Search query cannot be empty")
        tap.equal(desk.call(BOB, "search_emails", query="x" * 1001),
                  start + "Search query too long (max 1000 characters)")


# ---- changing ----

def test_single_messages_change():
    with mailbox.desk() as desk:
        fill(desk, *[mailbox.letter(subject="Number %d" % i) for i in range(1, 5)])
        tap.equal(desk.call(BOB, "move_email", email_id="2", target_folder="Trash"),
                  "Email 2 moved to Trash successfully")
        tap.contains(desk.call(BOB, "read_email", email_id="2"), "Subject: Number 3\n")
        tap.contains(desk.call(BOB, "read_email", email_id="1", folder="Trash"), "Number 2")
        tap.equal(desk.call(BOB, "delete_email", email_id="1"), "Email 1 deleted successfully")
        tap.contains(desk.call(BOB, "read_email", email_id="1"), "Subject: Number 3\n")
        tap.equal(desk.call(BOB, "delete_email", email_id="7"),
                  "Error deleting email: Failed to delete email: "
                  "Email 7 not found in current folder")
        tap.equal(desk.call(BOB, "move_email", email_id="1", target_folder="Nope"),
                  "Error moving email: Failed to move email: "
                  "Failed to copy email to Nope: no such folder")


def test_many_messages_change():
    with mailbox.desk() as desk:
        fill(desk, *[mailbox.letter(subject="Number %d" % i) for i in range(1, 7)])
        tap.equal(desk.call(BOB, "mark_emails", email_ids=["1", "3", "9"], status="read"),
                  "Successfully marked 2/3 emails as read")
        tap.equal(desk.call(BOB, "mark_emails", email_ids=["3"], status="unread"),
                  "Successfully marked 1/1 emails as unread")
        desk.call(BOB, "mark_emails", email_ids=["5"], status="important")
        tap.contains(desk.call(BOB, "get_emails"), "2. ID: 5 [UNREAD] [IMPORTANT]\n")
        desk.call(BOB, "mark_emails", email_ids=["5"], status="not_important")
        tap.equal("IMPORTANT" in desk.call(BOB, "get_emails"), False)
        tap.equal(desk.call(BOB, "mark_emails", email_ids=["1"], status="blue"),
                  "Error: Invalid status 'blue'. Must be 'read', 'unread', 'important', "
                  "or 'not_important'")
        tap.contains(desk.call(BOB, "mark_emails", email_ids=["1"], status="read", folder="x"),
                     "Error marking emails: Error selecting folder 'x'")
        tap.equal(desk.call(BOB, "move_emails", email_ids=["1", "2"], target_folder="Junk"),
                  "Successfully moved 2/2 emails to Junk")
        tap.equal(desk.call(BOB, "delete_emails", email_ids=["1", "2", "8"]),
                  "Successfully deleted 2/3 emails")
        tap.equal(re.findall("Number ([0-9])", desk.call(BOB, "get_emails")), ["6", "5"])
        tap.contains(desk.call(BOB, "move_emails", email_ids=["1"], target_folder="x"),
                     "Error moving")
        tap.contains(desk.call(BOB, "delete_emails", email_ids=["1"], folder="x"), "Error deleting")


def test_folders():
    with mailbox.desk() as desk:
        tap.equal(desk.call(BOB, "create_folder", folder_name="Pläne 2026"),
                  "Folder 'Pläne 2026' created successfully")
        fill(desk, mailbox.letter(folder="Pläne 2026"))
        tap.equal(desk.call(BOB, "get_folders").splitlines(), [
            "Email Folders (6):", "- INBOX (Total: 0, Unread: 0)", "- Drafts (Total: 0, Unread: 0)",
            "- Sent (Total: 0, Unread: 0)", "- Junk (Total: 0, Unread: 0)",
            "- Trash (Total: 0, Unread: 0)", "- Pläne 2026 (Total: 1, Unread: 1)"])
        tap.equal(desk.call(BOB, "get_mailbox_stats", folder_name="Pläne 2026"),
                  "Mailbox Statistics:\nFolder: Pläne 2026\nTotal messages: 1\n"
                  "Unread messages: 1\n")
        tap.contains(desk.call(BOB, "get_mailbox_stats"), "Total: 1 messages, 1 unread")
        tap.contains(desk.call(BOB, "get_mailbox_stats", folder_name="x"),
                     "Error getting mailbox stats: Failed to get folder stats: ")
        tap.equal(desk.call(BOB, "create_folder", folder_name="Pläne 2026"),
                  "Error creating folder: Failed to create folder 'Pläne 2026': it exists already")
        tap.equal(desk.call(BOB, "create_folder", folder_name="a/b"),
                  "Error creating folder: Folder name contains invalid character: /")
        tap.equal(desk.call(BOB, "create_folder", folder_name=""),
                  "Error creating folder: Folder name cannot be empty")
        tap.equal(desk.call(BOB, "delete_folder", folder_name="INBOX"),
                  "Error deleting folder: Cannot delete system folder: INBOX")
        tap.equal(desk.call(BOB, "delete_folder", folder_name="Pläne 2026"),
                  "Folder 'Pläne 2026' deleted successfully")
        tap.equal(desk.call(BOB, "delete_folder", folder_name="Pläne 2026"),
                  "Error deleting folder: Failed to delete folder 'Pläne 2026': NO")


# ---- files ----

def test_drafts_are_files():
    with mailbox.desk() as desk:
        tap.equal(desk.call(BOB, "get_drafts"), "No drafts found")
        saved = desk.call(BOB, "save_draft", subject="Plan", body="soon", to=ANN)
        draft = re.fullmatch("Draft saved successfully with ID: (draft_[0-9_]+_[0-9a-f]{6})",
                             saved)[1]
        with open(os.path.join(desk.root, "drafts", draft + ".json")) as f:
            tap.equal({k: v for k, v in json.load(f).items() if not k.endswith("_at")},
                      {"draft_id": draft, "subject": "Plan", "body": "soon", "html_body": None,
                       "to": ANN, "cc": None, "bcc": None})
        tap.equal(desk.call(BOB, "update_draft", draft_id=draft, body="today"),
                  "Draft %s updated successfully" % draft)
        desk.call(BOB, "save_draft", subject="Other", body="")
        got = desk.call(BOB, "get_drafts")
        tap.contains(got, "Drafts (Page 1/1):\nTotal drafts: 2\n\n1. ID: draft_")
        tap.contains(got, "   Subject: Plan\n   To: ann@mcp.com\n   Updated: ")
        tap.contains(got, "   Subject: Other\n   To: Not set\n")
        tap.equal(desk.call(BOB, "delete_draft", draft_id=draft),
                  "Draft %s deleted successfully" % draft)
        for tool, doing in (("update_draft", "updating"), ("delete_draft", "deleting")):
            tap.equal(desk.call(BOB, tool, draft_id=draft),
                      "Error %s draft: Draft %s not found" % (doing, draft))
            tap.equal(desk.call(BOB, tool, draft_id="../x"),
                      "Error %s draft: Draft ../x not found" % doing)
        os.rename(os.path.join(desk.root, "drafts"), os.path.join(desk.root, "other"))
        with open(os.path.join(desk.root, "drafts"), "w"):
            pass
        tap.contains(desk.call(BOB, "save_draft", subject="s", body="b"), "Error saving draft: ")


def test_export_and_import_again():
    with mailbox.desk() as desk:
        fill(desk, mailbox.letter(subject="Eins", is_read=True, is_important=True, cc_addr=ANN,
                                  attachments=[{"filename": "ä.bin", "size": 3}]),
             mailbox.letter(subject="Zwei", body_html="<i>x</i>"), mailbox.letter(folder="Work"))
        tap.equal(desk.call(BOB, "export_emails"),
                  "Successfully exported 2 emails to %s/emails_export.json" % desk.root)
        with open(os.path.join(desk.root, "emails_export.json")) as f:
            export = json.load(f)
        tap.equal((export["total_emails"], [x["subject"] for x in export["emails"]]),
                  (2, ["Zwei", "Eins"]))
        one = export["emails"][1]
        tap.equal((one["email_id"], one["is_read"], one["is_important"], one["folder"],
                   one["cc_addr"],
                   one["body_html"]), ("1", True, True, "INBOX", ANN, None))
        tap.equal(one["attachments"], [{"filename": "ä.bin",
                                        "content_type": "application/octet-stream",
                                        "size": 3, "content": "ICAg"}])
        tap.equal(desk.call(BOB, "export_emails", export_all_folders=True,
                            export_path="out/all.json"),
                  "Successfully exported 3 emails to %s/out/all.json\nExport breakdown by folder:\n"
                  "  - INBOX: 2 emails\n  - Drafts: 0 emails\n  - Sent: 0 emails\n"
                  "  - Junk: 0 emails\n"
                  "  - Trash: 0 emails\n  - Work: 1 emails" % desk.root)
        tap.contains(desk.call(BOB, "export_emails", max_emails=1),
                     "Successfully exported 1 emails")
        with open(os.path.join(desk.root, "out", "all.json")) as f:
            text = f.read()
        tap.equal(desk.call(ANN, "import_emails", json_string=text, preserve_folders=True),
                  "Successfully imported 3/3 emails\n\nImport breakdown by folder:\n"
                  "  - INBOX: 2 emails\n  - Work: 1 emails")
        desk.call(ANN, "export_emails", export_all_folders=True, export_path="again.json")
        with open(os.path.join(desk.root, "again.json")) as f:
            tap.equal(json.load(f)["emails"], json.loads(text)["emails"])
        tap.equal(desk.call(BOB, "export_emails", folder="Trash"),
                  "No emails found to export from Trash")
        tap.equal(desk.call(BOB, "export_emails", folder="INBOX", export_all_folders=True),
                  "Error: Cannot specify both 'folder' and 'export_all_folders=True'")
        tap.contains(desk.call(BOB, "export_emails", export_path="/etc/x.json"),
                     "Error exporting emails: Export failed: Access denied")


def test_import_takes_relative_dates():
    with mailbox.desk() as desk:
        tap.equal(fill(desk, mailbox.letter(date="44 days before current date"),
                       mailbox.letter(date="2026-01-05T10:30:00Z"),
                       {"subject": "no sender", "to_addr": BOB, "email_id": "7"}),
                  "Successfully imported 2/3 emails to INBOX\n\n1 emails failed to import:\n"
                  "  - Email 7: Missing required field in JSON")
        tap.contains(desk.call(BOB, "read_email", email_id="2"),
                     "Date: Mon, 05 Jan 2026 10:30:00 +0000\n")
        session = desk.imap(BOB)
        session.select()
        since, before = (time.strftime("%d-%b-%Y", time.gmtime(time.time() - days * 86400))
                         for days in (46, 42))
        tap.equal(session.search(None, "SENTSINCE", since, "SENTBEFORE", before)[1], [b"1"])
        tap.equal(session.search(None, "SENTON", "5-Jan-2026")[1], [b"2"])
        session.logout()
        tap.equal(fill(desk, mailbox.letter(), target_folder="Sent", preserve_folders=False),
                  "Successfully imported 1/1 emails to Sent")
        start = "Error importing emails: Import failed: "
        tap.contains(desk.call(BOB, "import_emails", json_string="{"), start + "Invalid JSON: ")
        tap.equal(desk.call(BOB, "import_emails", json_string="{}"),
                  start + "Invalid JSON format: missing 'emails' key")
        tap.equal(desk.call(BOB, "import_emails", json_string='{"emails": []}'),
                  "No emails found in the JSON string")


def test_attachments_are_saved_beside_others():
    with mailbox.desk() as desk:
        data = base64.b64encode(bytes(range(256))).decode()
        fill(desk, mailbox.letter(attachments=[{"filename": "a.bin", "content": data},
                                               {"filename": "../../up.txt", "content": data}]))
        tap.equal(desk.call(BOB, "download_attachment", email_id="1", attachment_filename="a.bin"),
                  "Attachment 'a.bin' saved to: %s/a.bin" % desk.root)
        tap.equal(desk.call(BOB, "download_attachment", email_id="1", attachment_filename="a.bin"),
                  "Attachment 'a.bin' saved to: %s/a(1).bin" % desk.root)
        for name in ("a.bin", "a(1).bin"):
            with open(os.path.join(desk.root, name), "rb") as f:
                tap.equal(f.read(), bytes(range(256)))
        tap.contains(desk.call(BOB, "download_attachment", email_id="1",
                               attachment_filename="../../up.txt"),
                     "saved to: %s/up.txt" % desk.root)
        tap.equal(desk.call(BOB, "download_attachment", email_id="1", attachment_filename="b"),
                  "Attachment 'b' not found in email 1")
        tap.equal(desk.call(BOB, "download_attachment", email_id="3", attachment_filename="b"),
                  "Error downloading attachment: No email content found for email 3")


# ---- who calls ----

def test_the_header_says_who_calls():
    with mailbox.desk() as desk:
        tap.contains(desk.call(BOB, "check_connection"), "All connections are working properly")
        wrong = mailbox.config(BOB, "other")
        tap.contains(desk.call(wrong, "check_connection"), "Error: Both connections failed")
        tap.equal(desk.call(wrong, "get_emails"), "Error getting emails: Failed to get emails: "
                                                  "IMAP login failed: Wrong user or password")
        tap.contains(desk.call({"x-email-config": "%%"}, "get_folders"),
                     "Error getting folders: Failed to get folders: Invalid x-email-config header")
        desk.call(ANN, "send_email", to=BOB, subject="For Bob", body="b")
        tap.contains(desk.call(None, "get_emails"), "Subject: For Bob")
        answer = desk.tools.text(mailbox.SERVER, "send_email", {
            "to": BOB, "subject": "s", "body": "b"}, email="eve@mcp.com", headers={})
        tap.equal(answer, "Email sent successfully to " + BOB)
        tap.contains(desk.call(BOB, "read_email", email_id="2"), "From: eve@mcp.com\n")


# ---- the whole store ----

def dump(desk):
    status, body = desk.tools.request("POST", "/_mail_export", b"")
    tap.equal(status, 200, body)
    return json.loads(body)


def initialize(desk, data, want=200):
    status, body = desk.tools.request("POST", "/_mail_import", json.dumps(data).encode())
    tap.equal(status, want, body)
    return body


def test_a_dump_is_what_initialize_takes():
    with mailbox.desk() as desk:
        initialize(desk, {"users": {
            BOB: {"emails": [mailbox.letter(is_read=True, folder="Work",
                                            date="2 days before current date"),
                             mailbox.letter(subject="Ünïcode", body_text="a\nb\n\nÜ",
                                            is_important=True,
                                            cc_addr="Jürgen <j@x.org>", bcc_addr=ANN,
                                            message_id="<1@x>", body_html="<p>é</p>",
                                            attachments=[{"filename": "ö.pdf", "content_type":
                                                          "application/pdf", "size": 70}])]},
            ANN: {"emails": None}}})
        first = dump(desk)
        tap.equal(list(first["users"]), [BOB, ANN])
        tap.equal(first["users"][ANN], {"emails": []})
        inbox, work = first["users"][BOB]["emails"]
        tap.equal((inbox["subject"], inbox["body_text"], inbox["body_html"], inbox["cc_addr"],
                   inbox["bcc_addr"], inbox["message_id"], inbox["is_important"],
                   inbox["email_id"]),
                  ("Ünïcode", "a\nb\n\nÜ", "<p>é</p>", "Jürgen <j@x.org>", ANN, "<1@x>", True, "1"))
        tap.equal((work["folder"], work["is_read"], work["message_id"]), ("Work", True, None))
        tap.equal([(x["filename"], x["size"]) for x in inbox["attachments"]], [("ö.pdf", 70)])
        desk.call(ANN, "send_email", to="new@x.org", subject="gone soon", body="b")
        initialize(desk, first)
        tap.equal(dump(desk), first)
        tap.equal(desk.tools.request("POST", "/_mail_import?keep=1", json.dumps({
            "users": {ANN: {"emails": [mailbox.letter()]}}})), (200, b'{"users":1,"emails":1}'))
        tap.equal([len(x["emails"]) for x in dump(desk)["users"].values()], [2, 1])
        initialize(desk, {"users": {}})
        tap.equal(dump(desk), {"users": {}})
        tap.contains(initialize(desk, {"users": {"a b": {}}}, 422).decode(),
                     "is not a mail address")
        tap.equal(initialize(desk, [], 400), b"that is no mail")


tap.main(globals())
