# SPDX-License-Identifier: MIT
"""An instance that lives over a change of its app keeps the app that it was made from."""

import os
import shutil

import service
import shops
import tap


def kept(s):
    path = os.path.join(s.state, "apps", "kept")
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def change_app(folder):
    """A newer version: another table in the place of an old one, and other words."""
    for name, pairs in {
        "tools.sql": [("does not exist", "was never made"), ("FROM orders", "FROM purchases"),
                      ("INTO orders", "INTO purchases"), ("UPDATE orders", "UPDATE purchases")],
        "schema.sql": [("CREATE TABLE orders", "CREATE TABLE purchases")],
    }.items():
        path = os.path.join(folder, name)
        with open(path) as f:
            text = f.read()
        for old, new in pairs:
            text = text.replace(old, new)
        with open(path, "w") as f:
            f.write(text)


def restart(s):
    tap.equal(s.stop(), 0)
    s.start()


def words_of(shop):
    return shop.call("get_order", order_id=999)["error"]


def test_the_old_app_stays_with_its_instance():
    with shops.running() as s:
        used, untouched = shops.Shop(s, data="default"), shops.Shop(s, data="default")
        before = used.order("tea", 2)
        assert "error" not in before, before
        used.ask("POST", "snapshot", {"name": "one"})
        tap.equal(len(kept(s)), 1)
        was = kept(s)
        change_app(os.path.join(s.apps, "shop"))
        restart(s)
        for shop in (used, untouched):
            shop.close()
            tap.contains(words_of(shop), "does not exist")
        order = used.call("get_order", order_id=before["id"])
        tap.equal(order.get("ticket"), before["ticket"], order)
        new = shops.Shop(s, data="default")
        tap.contains(words_of(new), "was never made")
        tap.equal(len(kept(s)), 2)
        # Writes, snapshots, forks and a reset go on in the old app.
        more = used.order("tea")
        assert "error" not in more, more
        fork = s.post("/sandbox/shop/%s/fork" % used.id, {})
        tap.equal(fork.status, 201, fork)
        used.ask("POST", "restore", {"name": "one"})
        used.ask("POST", "reset")
        tap.contains(words_of(used), "does not exist")
        restart(s)
        for shop in (used, new):
            shop.close()
        tap.contains(words_of(used), "does not exist")
        tap.contains(words_of(new), "was never made")
        # What nobody needs any more goes; at the next start at the latest.
        for shop in (used.id, untouched.id, fork.json["sandbox_id"]):
            tap.equal(s.delete("/sandbox/shop/" + shop).status, 200)
        restart(s)
        tap.equal(len(kept(s)), 1)
        assert kept(s) != was
        new.close()
        tap.contains(words_of(new), "was never made")


def test_a_shared_file_that_changes():
    """What an app includes from beside it is a part of it: it is kept, and a change counts."""
    with shops.running() as s:
        common = os.path.join(s.apps, "common")
        path = os.path.join(s.apps, "shop", "tools.sql")
        os.mkdir(common)
        with open(path) as f:
            text = f.read()
        line = "SELECT 'order ' || :order_id || ' does not exist' AS error WHERE :id IS NULL;\n"
        tap.contains(text, line)
        with open(path, "w") as f:
            f.write(text.replace(line, "-- include: common/missing\n"))

        def share(words):
            with open(os.path.join(common, "missing.sql"), "w") as f:
                f.write(line.replace("does not exist", words))
        share("is not here")
        old = shops.Shop(s, data="default")
        tap.contains(words_of(old), "is not here")
        tap.equal(len(kept(s)), 1)
        with open(os.path.join(common, "unused.sql"), "w") as f:
            f.write("SELECT 1;\n")
        same = shops.Shop(s, data="default")
        tap.contains(words_of(same), "is not here")
        tap.equal(len(kept(s)), 1, "kept after a change that is not the app's")
        share("was lost")
        new = shops.Shop(s, data="default")
        tap.contains(words_of(new), "was lost")
        tap.equal(len(kept(s)), 2)
        shutil.rmtree(common)
        restart(s)
        for shop, words in ((old, "is not here"), (new, "was lost")):
            shop.close()
            tap.contains(words_of(shop), words)


def test_an_app_that_is_removed():
    with shops.running() as s:
        shop = shops.Shop(s, data="default")
        assert "error" not in shop.order("tea", 2)
        shutil.rmtree(os.path.join(s.apps, "shop"))
        restart(s)
        shop.close()
        tap.contains(words_of(shop), "does not exist")
        assert s.post("/sandbox/shop", {}).status != 201


def test_what_was_kept_and_is_damaged():
    """Then the app is as it is now: as before anything was kept."""
    with shops.running() as s:
        shop = shops.Shop(s, data="default")
        assert "error" not in shop.order("tea", 2)
        path = os.path.join(s.state, "apps", "kept", kept(s)[0], "shop", "tools.sql")
        with open(path, "a") as f:
            f.write("-- more\n")
        change_app(os.path.join(s.apps, "shop"))
        restart(s)
        shop.close()
        answer = s.post(shop.target, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "get_order", "arguments": {"order_id": 999}}}, headers=shops.RPC)
        # The new tools do not fit the old tables: an error, until it is reset.
        assert "error" in answer.json, answer
        shop.ask("POST", "reset")
        tap.contains(words_of(shop), "was never made")


def test_the_same_app_elsewhere_is_the_same():
    """An upgrade that moves the folders, and changes nothing, keeps no second copy."""
    with shops.running() as s:
        shop = shops.Shop(s, data="default")
        assert "error" not in shop.order("tea", 2)
        with service.folder() as other:
            shutil.copytree(os.path.join(s.apps, "shop"), os.path.join(other, "shop"))
            s.env = dict(s.env, TIDEPOOL_APPS_DIR=other)
            restart(s)
            shop.close()
            tap.contains(words_of(shop), "does not exist")
            shops.Shop(s, data="default")
            tap.equal(len(kept(s)), 1)
            tap.equal(s.stop(), 0)


tap.main(globals())
