# SPDX-License-Identifier: MIT
"""kill -9 of the service while tools of several instances are called, again and again. After each
restart every call that was acknowledged is in its instance, no call is there by half, and an order
of one instance is in no other.

    tests/chaos/test_apps_kill.py [ROUNDS]
"""

import http.client
import random
import sys
import threading
import time

import shops
import tap

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
INSTANCES = 8


class Client(threading.Thread):
    """Orders from one instance until the service is gone."""

    def __init__(self, shop, product):
        super().__init__()
        self.shop, self.product, self.made, self.failure = shop, product, [], None

    def run(self):
        try:
            while True:
                self.made.append(self.shop.order(self.product, random.randint(1, 3)))
        except (OSError, http.client.HTTPException):
            pass
        except Exception as e:
            self.failure = e


def check(shop, product, known):
    """What the instance has is what was acknowledged, perhaps one call more, and whole."""
    orders = shop.rows("SELECT id, ticket, product FROM orders ORDER BY id DESC LIMIT 1000")
    newest = {(row[0], row[1]) for row in orders}
    count, quantity = shop.rows("SELECT count(*), ifnull(sum(quantity), 0) FROM orders")[0]
    lost = [o for o in known[-900:] if (int(o["id"]), o["ticket"]) not in newest]
    tap.equal(lost, [], "orders that were acknowledged and are lost")
    tap.equal({row[2] for row in orders} - {product}, set(), "orders of others")
    stock = shop.rows("SELECT stock FROM product WHERE name = '%s'" % product)[0][0]
    tap.equal(stock, shops.PLENTY - quantity, "stock beside the orders")
    return count


def test_acknowledged_calls_survive():
    with shops.running() as s:
        products = ["product-%d" % i for i in range(INSTANCES)]
        instances = [shops.Shop(s) for _ in products]
        known = [[] for _ in products]
        for shop, product in zip(instances, products):
            shop.stock_up(product)
        for number in range(ROUNDS):
            clients = [Client(*pair) for pair in zip(instances, products)]
            for c in clients:
                c.start()
            time.sleep(random.uniform(0.05, 0.5))
            s.kill()
            for c in clients:
                c.join()
                c.shop.close()
                tap.equal(c.failure, None)
            s.start()
            for i, c in enumerate(clients):
                known[i] += c.made
                count = check(c.shop, c.product, known[i])
                # A call that was cut off may have been done.
                assert len(known[i]) <= count <= len(known[i]) + number + 1, (count, known[i])
            print("# round %d: %d calls" % (number + 1, sum(len(c.made) for c in clients)))
        assert all(known), "no load"
        for shop, made in zip(instances, known):
            recorded = shop.ask("GET", "calls?limit=10000")["calls"]
            writes = [c for c in recorded if c["tool"] == "create_order"]
            assert len(writes) >= len(made), "calls that are not recorded"


def test_leases_survive():
    with shops.running() as s:
        kept, gone = shops.Shop(s), shops.Shop(s)
        kept.stock_up("tea")
        order = kept.order("tea")
        tap.equal(s.delete("/sandbox/shop/" + gone.id).status, 200)
        s.kill()
        kept.close()
        s.start()
        tap.equal(kept.call("get_order", order_id=int(order["id"]))["product"], "tea")
        tap.equal(s.post(gone.target, "{}", key=None, headers=shops.RPC).status, 404)
        tap.equal(s.get("/sandbox/shop/" + gone.id).json["status"], "idle")
        shops.Shop(s)
        tap.equal(s.get("/sandbox/shop/" + gone.id).status, 404, "the slot is used again")


if __name__ == "__main__":
    tap.main(globals())
