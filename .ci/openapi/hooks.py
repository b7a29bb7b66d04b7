"""What schemathesis is told about the shop: things that exist, and a tally of the answers.

Made-up ids lead to 404 and nothing else, so half of the well-formed cases are pointed at something real. Requests of this file's
own, which find or make that something, are not counted.
"""

import atexit
import json
import os
import pathlib
import random
import re
import time
import uuid

import requests
import schemathesis
from schemathesis.generation import GenerationMode

SHOP = os.environ["FUZZ_SHOP"]
PERSONA = os.environ["FUZZ_PERSONA"]
TALLY = pathlib.Path(os.environ["FUZZ_TALLY"])
LETTERS = pathlib.Path(os.environ["FUZZ_LETTERS"])
LOGINS = json.loads(os.environ["FUZZ_LOGINS"])
REAL_SHARE = 0.5

chance = random.Random(int(os.environ["FUZZ_SEED"]))
tally = {}
PASSWORD = "correct horse battery"
ADDRESS = {"street": "Unter den Linden 1", "city": "Berlin", "postal_code": "10117", "country": "DE"}


def ask(method, path, body=None, headers=None, key=None):
    headers = {"Merkato-Tenant": "default", "Idempotency-Key": key or str(uuid.uuid4()), **(headers or {})}
    return requests.request(method, SHOP + path, json=body, headers=headers, timeout=30)


def login(who):
    return ask("POST", "/v1/auth/login", LOGINS[who]).json()["token"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


STAFF = bearer(login("admin"))


def staff(method, path, body=None):
    answer = ask(method, path, body, STAFF)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def all_products():
    found = []
    for aisle in staff("GET", "/v1/categories?limit=100")["data"]:
        for shelf in staff("GET", f"/v1/categories?parent_id={aisle['id']}&limit=100")["data"]:
            found += staff("GET", f"/v1/categories/{shelf['id']}/products?limit=100")["data"]
            shelves.append(shelf["id"])
    return found


shelves = []
products = all_products()


def product():
    return chance.choice(products)


def new_product():
    """One that may be changed, emptied and deleted without harm to other cases."""
    price = {"amount": "19.99", "currency": "EUR"}
    body = {"name": "A lamp", "category_id": chance.choice(shelves), "status": "active", "price": price}
    made = staff("POST", "/v1/admin/products", body)["id"]
    for warehouse in ("berlin", "hamburg"):
        staff("PUT", f"/v1/admin/inventory/{made}/{warehouse}", {"quantity": 100})
    return made


# Bought in every order that these hooks make: never out of stock.
plenty = new_product()
staff("PUT", f"/v1/admin/inventory/{plenty}/berlin", {"quantity": 1_000_000})


class Shopper:
    """Whoever the pass is about, with a cart: a person by the session, nobody as a guest by the token of the first write."""

    def __init__(self):
        self.headers = {} if PERSONA == "nobody" else bearer(login(PERSONA))
        answer = ask("POST", "/v1/carts/active/items", {"product_id": plenty}, self.headers)
        answer.raise_for_status()
        if PERSONA == "nobody":
            self.headers = {"Merkato-Guest": answer.headers["Merkato-Guest"]}

    def ask(self, method, path, body=None):
        answer = ask(method, path, body, self.headers)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def fill(self):
        self.ask("POST", "/v1/carts/active/items", {"product_id": plenty})

    def cart(self):
        if PERSONA == "nobody":
            return self.ask("GET", "/v1/carts/active")
        carts = self.ask("GET", "/v1/carts")["data"]
        if len(carts) < 3:
            self.ask("POST", "/v1/carts", {"name": str(uuid.uuid4())})
            carts = self.ask("GET", "/v1/carts")["data"]
        return chance.choice(carts)

    def line(self):
        self.fill()
        cart = self.ask("GET", "/v1/carts/active")
        return {"id": cart["id"], "line": chance.choice(cart["lines"])["id"]}

    def address(self):
        found = self.ask("GET", "/v1/me/addresses")["data"]
        return chance.choice(found)["id"] if found else self.ask("POST", "/v1/me/addresses", ADDRESS)["id"]

    def checkout(self):
        self.fill()
        return self.ask("POST", "/v1/checkouts", purchase({}))

    def order(self):
        return self.checkout()["order"]["id"]


def purchase(body):
    paid = {"shipping_address": ADDRESS, "shipping_method": "standard", "payment": {"method": "card", "source": "ok"}}
    for name in ("cart_id", "shipping_address_id", "billing_address", "discount_code", "expected_total"):
        body.pop(name, None)
    return {**body, **paid, "email": "ada@example.com"}


def hold():
    line = {"product_id": plenty, "quantity": 1}
    return staff("POST", "/v1/admin/inventory/holds", {"lines": [line], "seconds": 600})["id"]


def soon(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def discount():
    code = uuid.uuid4().hex[:12]
    staff("POST", "/v1/admin/discounts", {"code": code, "percentage": "10"})
    return code


def letter(to):
    """The token of the letter that came last to an address."""
    for _ in range(600):
        for path in sorted(LETTERS.glob("*.eml"), key=lambda path: path.stat().st_mtime, reverse=True):
            text = path.read_text()
            token = re.search(r"(?:^|token=)([0-9a-f]{32}\.\S+)\s*$", text, re.M)
            if to in text and token:
                return token[1]
        time.sleep(0.1)
    raise AssertionError(f"no letter came to {to}")


def registered():
    email = f"{uuid.uuid4().hex}@example.com"
    ask("POST", "/v1/auth/register", {"email": email, "password": PASSWORD}).raise_for_status()
    return email


def verified():
    email = registered()
    ask("POST", "/v1/auth/verify", {"token": letter(email)}).raise_for_status()
    return email


def reset():
    email = verified()
    # The letter that verified the address has a token, too.
    for path in LETTERS.glob("*.eml"):
        path.unlink()
    ask("POST", "/v1/auth/password-reset", {"email": email}).raise_for_status()
    return letter(email)


def spare_user():
    """Never one of the passes' own: a person who is suspended has no session any more."""
    email = verified()
    login = ask("POST", "/v1/auth/login", {"email": email, "password": PASSWORD})
    return login.json()["user_id"]


def days(first, last):
    return {"from": time.strftime("%Y-%m-%d", time.gmtime(time.time() - first * 86400)), "to": time.strftime("%Y-%m-%d", time.gmtime(time.time() - last * 86400))}


def new_sale():
    price = {"amount": "99.99", "currency": "EUR"}
    return {"product_id": "prod_123", "sale_id": uuid.uuid4().hex, "sale_date": days(9, 0)["from"], "sale_price": price, "category": "dress", "brand": "Nike"}


def sale(case):
    made = staff("POST", "/v1/admin/sales", new_sale())
    case.path_parameters.update({name: made[name] for name in ("product_id", "sale_date", "sale_id")})


def embedded():
    """A sale whose embedding is known, so that something is near to it."""
    staff("POST", "/v1/admin/sales", {**new_sale(), "embedding_id": "emb_xyz", "vector": [0.5, 0.25]})
    return {"product_id": "prod_123"}


def now(seconds=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def new_sensor():
    metrics = {"temperature": {"unit": "°C", "min": -30, "max": 30}}
    return {"name": "Cold store", "kind": "cold_store", "interval_seconds": 600, "metrics": metrics}


def measured():
    """A sensor that has measured something in these hours."""
    made = staff("POST", "/v1/admin/telemetry", new_sensor())["sensor_id"]
    sent = [{"measurement_time": now(-600 * n), "temperature": 4 + n % 3} for n in range(12)]
    staff("POST", f"/v1/admin/telemetry/{made}/measurements", {"measurements": sent})
    return made

staff("POST", "/v1/admin/trees", {"name": "company"})


def node(parent=None):
    return staff("POST", "/v1/admin/trees/company/nodes", {"name": uuid.uuid4().hex, "parent_id": parent})["id"]


department = node()
team = node(department)


def happened():
    """A stream with some events."""
    made = str(uuid.uuid4())
    events = [{"event_type": "Opened", "data": {"n": n}, "correlation_id": together} for n in range(3)]
    staff("POST", f"/v1/admin/streams/{made}/events", {"kind": "door", "events": events})
    return made


together = str(uuid.uuid4())
door = happened()

def somebody():
    return str(uuid.uuid4())


ada, ben, eve = somebody(), somebody(), somebody()


def befriend(one, other):
    staff("PUT", f"/v1/admin/graph/{one}/connections/friend/{other}", {})
    return other


befriend(ada, ben)
befriend(ben, eve)
staff("POST", f"/v1/admin/graph/{ada}/suggestions", None)

shopper = Shopper()
me = staff("GET", "/v1/me")["id"]
spare = spare_user()
sensor = measured()


def path(**of):
    return lambda case: case.path_parameters.update({name: make() for name, make in of.items()})


def body(change):
    def apply(case):
        if isinstance(case.body, dict):
            case.body = change(dict(case.body))

    return apply


def query(make):
    return lambda case: case.query.update(make())


def only_query(make):
    def apply(case):
        case.query.clear()
        case.query.update(make())

    return apply


def before(work):
    return lambda case: work()


def with_(**of):
    return body(lambda old: {**old, **{name: make() for name, make in of.items()}})


def without(*names):
    return body(lambda old: {name: value for name, value in old.items() if name not in names})


def price(old):
    old["price"] = {"amount": "19.99", "currency": "EUR"}
    old.pop("compare_at_price", None)
    return old


def log_out(case):
    """A session of its own is ended, never the one of the pass."""
    case.headers.update(bearer(login("customer")))


PRODUCT = path(id=lambda: product()["id"])
ORDER = path(id=shopper.order)
CART = path(id=lambda: shopper.cart()["id"])


def LINE(case):
    case.path_parameters.update(shopper.line())


LEVEL = path(product_id=new_product, warehouse_id=lambda: "berlin")
HELD = [path(id=hold), with_(products=lambda: [plenty])]
NEW_PRODUCT = [with_(category_id=lambda: chance.choice(shelves)), body(price), without("slug")]

CATEGORY = [path(category=lambda: "dress"), only_query(lambda: {})]
BRAND = [path(brand=lambda: "Nike"), only_query(lambda: {})]
SOLD = [path(product_id=lambda: "prod_123"), only_query(lambda: days(30, 0))]

SENSOR = path(sensor_id=lambda: sensor)
TREE = path(tree=lambda: "company")
NODE = [TREE, path(id=lambda: department)]
SPARE_NODE = [TREE, path(id=node)]

STREAM = path(aggregate_id=lambda: door)
ADA = path(user=lambda: ada)
TIE = [ADA, path(type=lambda: "friend"), path(other=lambda: ben)]
WALLET = path(user_id=lambda: me)


def euros(old):
    return {"amount": {"amount": "1.00", "currency": "EUR"}}


# What makes a case of an operation real. Operations that are not here need nothing.
REAL = {
    "GET /v1/admin/analytics/daily-sales": [only_query(lambda: days(7, 0))],
    "GET /v1/admin/analytics/products/{id}/views": [PRODUCT, only_query(lambda: days(7, 0))],
    "GET /v1/admin/analytics/top-products": [only_query(lambda: {"by": chance.choice(["views", "units", "revenue"]), "days": 7})],
    "POST /v1/admin/categories": [with_(parent_id=lambda: None), without("slug")],
    "GET /v1/admin/categories/{id}": [path(id=lambda: chance.choice(shelves))],
    "PUT /v1/admin/categories/{id}": [path(id=lambda: staff("POST", "/v1/admin/categories", {"name": "Lamps"})["id"]), without("slug")],
    "GET /v1/admin/categories/{id}/products": [path(id=lambda: chance.choice(shelves))],
    "POST /v1/admin/discounts": [body(lambda old: {"code": uuid.uuid4().hex, "percentage": "10"})],
    "GET /v1/admin/discounts/{code}": [path(code=discount)],
    "DELETE /v1/admin/discounts/{code}": [path(code=discount)],
    "PUT /v1/admin/featured/{feature_type}": [
        path(feature_type=lambda: "homepage"),
        body(lambda old: {"products": [{"product_id": product()["id"]}]}),
    ],
    "GET /v1/admin/events": [
        only_query(lambda: chance.choice([{}, {"type": "Opened"}, {"correlation_id": together}, {"from": now(-3600)}]))
    ],
    "GET /v1/admin/events/feed": [only_query(lambda: {"after": chance.randint(0, 5), "limit": 10})],
    "GET /v1/admin/events/types": [only_query(lambda: {})],
    "GET /v1/admin/inventory/holds": [query(lambda: {"product_id": plenty})],
    "POST /v1/admin/inventory/holds": [body(lambda old: {"lines": [{"product_id": plenty, "quantity": 1}]})],
    "POST /v1/admin/inventory/holds/{id}/confirm": HELD,
    "POST /v1/admin/inventory/holds/{id}/extend": [*HELD, with_(until=lambda: soon(900))],
    "POST /v1/admin/inventory/holds/{id}/release": HELD,
    "GET /v1/admin/inventory/low-stock": [query(lambda: {"warehouse_id": "berlin"})],
    "GET /v1/admin/inventory/movements": [query(lambda: {"product_id": plenty})],
    "POST /v1/admin/inventory/transfers": [
        body(lambda old: {**old, "product_id": new_product(), "from": "berlin", "to": "hamburg", "units": 1})
    ],
    "GET /v1/admin/inventory/{product_id}": [path(product_id=lambda: product()["id"])],
    "PUT /v1/admin/inventory/{product_id}": [path(product_id=new_product)],
    "PUT /v1/admin/inventory/{product_id}/{warehouse_id}": [LEVEL],
    "POST /v1/admin/inventory/{product_id}/{warehouse_id}/adjust": [LEVEL, with_(delta=lambda: chance.randint(-100, 100) or 1)],
    "POST /v1/admin/inventory/{product_id}/{warehouse_id}/restock": [LEVEL],
    "POST /v1/admin/keys": [without("expires_at"), with_(name=lambda: "a program")],
    "DELETE /v1/admin/keys/{id}": [path(id=lambda: staff("POST", "/v1/admin/keys", {"name": "x", "scopes": ["catalog_read"]})["id"])],
    "GET /v1/admin/orders": [only_query(lambda: {"status": "paid", "date": days(0, 0)["to"]})],
    "GET /v1/admin/orders/{id}": [ORDER],
    "POST /v1/admin/orders/{id}/cancel": [ORDER],
    "POST /v1/admin/orders/{id}/refund": [ORDER],
    "POST /v1/admin/orders/{id}/status": [ORDER, with_(status=lambda: "processing")],
    "POST /v1/admin/projections/{name}/rebuild": [path(name=lambda: "event_types")],
    "POST /v1/admin/products": NEW_PRODUCT,
    "GET /v1/admin/products/{id}": [PRODUCT],
    "PUT /v1/admin/products/{id}": [path(id=new_product), *NEW_PRODUCT],
    "DELETE /v1/admin/products/{id}": [path(id=new_product)],
    "GET /v1/admin/products/{id}/prices": [PRODUCT, only_query(lambda: {})],
    "POST /v1/admin/sales": [body(lambda old: new_sale())],
    "POST /v1/admin/sales/batch": [body(lambda old: {"sales": [new_sale(), *old.get("sales", [])]})],
    "GET /v1/admin/sales/categories/{category}/trends": CATEGORY,
    "GET /v1/admin/sales/categories/{category}/figures": CATEGORY,
    "GET /v1/admin/sales/categories/{category}/distribution": CATEGORY,
    "GET /v1/admin/sales/categories/{category}/brands": CATEGORY,
    "GET /v1/admin/sales/brands/{brand}": BRAND,
    "GET /v1/admin/sales/brands/{brand}/figures": BRAND,
    "GET /v1/admin/sales/brands/{brand}/distribution": BRAND,
    "GET /v1/admin/sales/products/{product_id}": SOLD,
    "GET /v1/admin/sales/products/{product_id}/embeddings": SOLD,
    "GET /v1/admin/sales/products/{product_id}/figures": SOLD,
    "GET /v1/admin/sales/products/{product_id}/distribution": SOLD,
    "GET /v1/admin/sales/{product_id}/{sale_date}/{sale_id}": [sale],
    "DELETE /v1/admin/sales/{product_id}/{sale_date}/{sale_id}": [sale],
    "POST /v1/admin/sales/nearest": [body(lambda old: embedded())],
    "POST /v1/admin/sales/suggestion": [body(lambda old: {"category": "dress", "brand": "Nike"})],
    "GET /v1/admin/streams/{aggregate_id}/events": [STREAM, only_query(lambda: {"direction": chance.choice(["forward", "backward"])})],
    "POST /v1/admin/streams/{aggregate_id}/events": [
        path(aggregate_id=lambda: str(uuid.uuid4())),
        body(lambda old: {"kind": "door", "expected_version": "absent", "events": [{"event_type": "Opened", "data": {"n": 1}}]}),
    ],
    "GET /v1/admin/streams/{aggregate_id}/state": [STREAM, only_query(lambda: {"version": chance.randint(1, 3)})],
    "POST /v1/admin/telemetry": [body(lambda old: new_sensor())],
    "GET /v1/admin/telemetry/{sensor_id}": [SENSOR, only_query(lambda: {"resolution": chance.choice(["auto", "raw", "hourly"])})],
    "GET /v1/admin/telemetry/{sensor_id}/sensor": [SENSOR],
    "PUT /v1/admin/telemetry/{sensor_id}/sensor": [path(sensor_id=measured), body(lambda old: new_sensor())],
    "POST /v1/admin/telemetry/{sensor_id}/retire": [path(sensor_id=measured)],
    "POST /v1/admin/telemetry/{sensor_id}/measurements": [SENSOR, body(lambda old: {"measurement_time": now(), "temperature": 4.5})],
    "GET /v1/admin/telemetry/{sensor_id}/chart": [SENSOR, only_query(lambda: {"metric": "temperature"})],
    "GET /v1/admin/telemetry/{sensor_id}/windows": [SENSOR, only_query(lambda: {"metric": "temperature", "last": 3})],
    "GET /v1/admin/telemetry/{sensor_id}/quality": [SENSOR, only_query(lambda: {})],
    "GET /v1/admin/telemetry/{sensor_id}/quality/hours": [SENSOR, only_query(lambda: {})],
    "POST /v1/admin/trees": [with_(name=lambda: chance.choice(["company", "places", "a/b ~ Ä"]))],
    "GET /v1/admin/trees/{tree}": [TREE],
    "GET /v1/admin/trees/{tree}/nodes": [TREE, only_query(lambda: chance.choice([{}, {"path": "root"}]))],
    "POST /v1/admin/trees/{tree}/nodes": [TREE, body(lambda old: {"name": uuid.uuid4().hex, "parent_id": team, "node_type": "person"})],
    "POST /v1/admin/trees/{tree}/nodes/batch": [TREE, body(lambda old: {"nodes": [{"name": uuid.uuid4().hex}, *old.get("nodes", [])]})],
    "GET /v1/admin/trees/{tree}/nodes/{id}": NODE,
    "PATCH /v1/admin/trees/{tree}/nodes/{id}": [*SPARE_NODE, body(lambda old: chance.choice([{"name": uuid.uuid4().hex}, {"node_type": None, "metadata": {"lead": "Ada"}}]))],
    "DELETE /v1/admin/trees/{tree}/nodes/{id}": SPARE_NODE,
    "POST /v1/admin/trees/{tree}/nodes/{id}/move": [*SPARE_NODE, body(lambda old: {"parent_id": chance.choice([None, team])})],
    "GET /v1/admin/trees/{tree}/nodes/{id}/children": NODE,
    "GET /v1/admin/trees/{tree}/nodes/{id}/ancestors": NODE,
    "GET /v1/admin/trees/{tree}/nodes/{id}/subtree": [*NODE, only_query(lambda: {"max_depth": 2})],
    "GET /v1/admin/trees/{tree}/nodes/{id}/descendants": [*NODE, only_query(lambda: {"level": 1})],
    "GET /v1/admin/trees/{tree}/nodes/{id}/search": [*NODE, only_query(lambda: {"q": "a"})],
    "GET /v1/admin/trees/{tree}/nodes/{id}/counts": NODE,
    "GET /v1/admin/graph/{user}": [ADA],
    "PUT /v1/admin/graph/{user}": [ADA, body(lambda old: {"interests": ["coffee", "hiking"]})],
    "GET /v1/admin/graph/{user}/suggestions": [ADA],
    "POST /v1/admin/graph/{user}/suggestions": [ADA],
    "GET /v1/admin/graph/{user}/connections": [ADA, only_query(lambda: chance.choice([{}, {"type": "friend"}]))],
    "GET /v1/admin/graph/{user}/followers": [ADA, only_query(lambda: chance.choice([{}, {"type": "follow"}]))],
    "GET /v1/admin/graph/{user}/connections/{type}/{other}": TIE,
    "PUT /v1/admin/graph/{user}/connections/{type}/{other}": [*TIE, body(lambda old: {"strength": 0.5})],
    "DELETE /v1/admin/graph/{user}/connections/{type}/{other}": [ADA, path(type=lambda: "friend"), path(other=lambda: befriend(ada, somebody()))],
    "POST /v1/admin/graph/{user}/connections/{type}/{other}/interactions": TIE,
    "GET /v1/admin/graph/{user}/mutual/{other}": [ADA, path(other=lambda: eve), only_query(lambda: {})],
    "GET /v1/admin/graph/{user}/path/{other}": [ADA, path(other=lambda: eve), only_query(lambda: {"max_hops": 3})],
    "GET /v1/admin/users/{id}": [path(id=lambda: me)],
    "GET /v1/admin/users/{id}/orders": [path(id=lambda: me), only_query(lambda: {})],
    "POST /v1/admin/users/{id}/reinstate": [path(id=lambda: spare)],
    "POST /v1/admin/users/{id}/suspend": [path(id=lambda: spare)],
    "POST /v1/auth/login": [body(lambda old: dict(LOGINS["customer"]))],
    "POST /v1/auth/logout": [log_out],
    "POST /v1/auth/password-reset": [with_(email=lambda: LOGINS["customer"]["email"])],
    "POST /v1/auth/password-reset/confirm": [body(lambda old: {"token": reset(), "new_password": PASSWORD})],
    "POST /v1/auth/register": [body(lambda old: {"email": f"{uuid.uuid4().hex}@example.com", "password": PASSWORD})],
    "POST /v1/auth/verify": [body(lambda old: {"token": letter(registered())})],
    "POST /v1/carts": [with_(name=lambda: str(uuid.uuid4()))],
    "POST /v1/carts/active/items": [body(lambda old: {"product_id": product()["id"]})],
    "GET /v1/carts/{id}": [CART],
    "DELETE /v1/carts/{id}": [path(id=lambda: shopper.ask("POST", "/v1/carts", {"name": str(uuid.uuid4())})["id"])],
    "PATCH /v1/carts/{id}": [CART, with_(name=lambda: str(uuid.uuid4()))],
    "POST /v1/carts/{id}/activate": [CART],
    "POST /v1/carts/{id}/copy": [CART, with_(name=lambda: str(uuid.uuid4()))],
    "GET /v1/carts/{id}/items/{line}": [LINE],
    "DELETE /v1/carts/{id}/items/{line}": [LINE],
    "PATCH /v1/carts/{id}/items/{line}": [LINE, with_(quantity=lambda: 2)],
    "GET /v1/categories": [only_query(lambda: {})],
    "GET /v1/categories/{id}": [path(id=lambda: chance.choice(shelves))],
    "GET /v1/categories/{id}/products": [path(id=lambda: chance.choice(shelves))],
    "POST /v1/checkouts": [before(shopper.fill), body(purchase), without("store_credit")],
    "POST /v1/checkouts/quote": [before(shopper.fill), body(lambda old: {"country": "DE", "shipping_method": "standard"})],
    "GET /v1/checkouts/{id}": [path(id=lambda: shopper.checkout()["id"])],
    "GET /v1/featured/{feature_type}": [path(feature_type=lambda: "homepage")],
    "GET /v1/items": [query(lambda: {"name": product()["name"]})],
    "PATCH /v1/me": [body(lambda old: {**old, "avatar_url": "https://shop.example/ada.png"})],
    "POST /v1/me/addresses": [body(lambda old: dict(ADDRESS))],
    "PUT /v1/me/addresses/{id}": [path(id=shopper.address), body(lambda old: {**old, **ADDRESS})],
    "DELETE /v1/me/addresses/{id}": [path(id=shopper.address)],
    "GET /v1/me/orders": [only_query(lambda: {})],
    "GET /v1/me/wallet/statement": [only_query(lambda: {})],
    "GET /v1/orders/{id}": [ORDER],
    "POST /v1/orders/{id}/cancel": [ORDER],
    "GET /v1/orders/{id}/history": [ORDER],
    "GET /v1/orders/{id}/items": [ORDER],
    "GET /v1/products/by-slug/{slug}": [path(slug=lambda: product()["slug"])],
    "GET /v1/products/{id}": [PRODUCT],
    "GET /v1/products/{id}/related": [PRODUCT],
    "POST /v1/products/{id}/views": [PRODUCT],
    "GET /v1/wallets/{user_id}": [WALLET],
    "POST /v1/wallets/{user_id}/deposits": [WALLET, body(euros)],
    "GET /v1/wallets/{user_id}/statement": [WALLET, only_query(lambda: {})],
    "POST /v1/wallets/{user_id}/transfers": [WALLET, body(lambda old: {**euros(old), "to": spare})],
    "POST /v1/wallets/{user_id}/withdrawals": [WALLET, body(euros)],
    "GET /v1/search": [query(lambda: {"prefix": product()["name"][:3]})],
}
# What only some may make or see is made for them alone; to others every case is a refusal anyway.
PERSONS = ("/v1/me", "/v1/auth/logout")


def may(label):
    route = label.split(" ")[1]
    if route.startswith(("/v1/admin/", "/v1/wallets/")):
        return PERSONA == "admin"
    if route.startswith(PERSONS):
        return PERSONA != "nobody"
    if PERSONA == "nobody" and label in {"DELETE /v1/carts/{id}"}:
        return False
    return True


def is_positive(case):
    meta = case.meta
    return meta is None or meta.generation.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(ctx, case, kwargs):
    case.headers["Merkato-Tenant"] = "default"
    label = f"{case.method.upper()} {case.operation.path}"
    case.headers.update(shopper.headers)
    if label == "POST /v1/auth/logout":
        log_out(case)
    if label == "GET /v1/admin/events/feed":
        # Otherwise it goes on as long as somebody listens.
        case.headers["Accept"] = "application/json"
    if not is_positive(case) or not may(label) or chance.random() > REAL_SHARE:
        return
    # What was made up for them would be refused: no such revision, no such page.
    for name in ("If-Match", "If-None-Match"):
        case.headers.pop(name, None)
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    if case.query:
        case.query.pop("cursor", None)
    try:
        for step in REAL.get(label, []):
            step(case)
    except requests.HTTPError:
        # Another case has changed what is needed, as a price of what lies in the cart. The case goes as it is; that most
        # operations succeed at some time is seen at the end.
        pass


@schemathesis.hook
def after_call(ctx, case, response):
    label = f"{case.method.upper()} {case.operation.path}"
    of = tally.setdefault(label, {})
    status = str(response.status_code)
    of[status] = of.get(status, 0) + 1


atexit.register(lambda: TALLY.write_text(json.dumps(tally)))
