// SPDX-License-Identifier: MIT
// A person with a browser looks at pages of two sandboxes, and the page of the first one tries to
// get at the second, at the API and at what the browser keeps for them.
// Usage: node origins.mjs JSON of want, below; says what it saw.
import { chromium } from "playwright-core";

const want = JSON.parse(process.argv[2]);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.test 127.0.0.1"],
});
const context = await browser.newContext();
const seen = {};

// ---- what a page of its own needs ----

async function works(page) {
  await page.waitForLoadState("load");
  if (!(await page.$("#dot"))) return page.content();
  return page.evaluate(async () => {
    const tell = async (f) => { try { return await f(); } catch (e) { return e.name; } };
    const socket = (url) => new Promise((done) => {
      const w = new WebSocket(url);
      w.onopen = () => w.send("hi");
      w.onmessage = (m) => { done(m.data); w.close(); };
      w.onerror = () => done("refused");
    });
    const nearby = (path) => new URL(path, location.href).href.replace(/^http/, "ws");
    const text = async (...a) => (await fetch(...a)).text();
    return {
      origin: window.origin,
      plain: window.plain, module: window.module,
      style: getComputedStyle(document.body).color,
      image: document.getElementById("dot").naturalWidth,
      fetch: await tell(() => text("data.json")),
      include: await tell(() => text("data.json", { credentials: "include" })),
      json: await tell(async () => JSON.parse(await text("echo", {
        method: "PUT", body: "{}", headers: { "content-type": "application/json", "x-mine": "1" },
      })).method),
      status: await tell(async () => (await fetch("nothing-here/../data.json?port=81")).status),
      xhr: await tell(() => new Promise((done) => {
        const x = new XMLHttpRequest();
        x.onload = () => done(x.responseText);
        x.onerror = () => done("failed");
        x.open("GET", new URL("data.json", location.href));
        x.send();
      })),
      events: await tell(() => new Promise((done) => {
        const e = new EventSource("events");
        e.onmessage = (m) => { e.close(); done(m.data); };
        e.onerror = () => { e.close(); done("failed"); };
      })),
      socket: await tell(() => socket(nearby("socket"))),
    };
  });
}

// ---- what it must not do ----

// PLACES: addresses of others. Each try gives what was learned, or why nothing was.
async function attack(page, places) {
  return page.evaluate(async (places) => {
    const tell = async (f) => { try { return await f(); } catch (e) { return e.name; } };
    const loaded = (target) => new Promise((done) => {
      target.addEventListener?.("load", () => done(), { once: true });
      setTimeout(done, 1500);
    });
    const tries = {
      fetch: async (url) => {
        const r = await fetch(url, { credentials: "include" });
        return `${r.status} ${(await r.text()).slice(0, 200)}`;
      },
      xhr: (url) => new Promise((done) => {
        const x = new XMLHttpRequest();
        x.withCredentials = true;
        x.onload = () => done(`${x.status} ${x.responseText.slice(0, 200)}`);
        x.onerror = () => done("failed");
        x.open("GET", url);
        x.send();
      }),
      post: async (url) => {
        await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: "a=1" });
        return "sent";
      },
      script: (url) => new Promise((done) => {
        const s = document.createElement("script");
        s.onload = () => done("loaded");
        s.onerror = () => done("failed");
        s.src = url;
        document.body.append(s);
      }),
      frame: async (url) => {
        const f = document.createElement("iframe");
        const end = loaded(f);
        f.src = url;
        document.body.append(f);
        await end;
        return f.contentDocument ? f.contentDocument.documentElement.outerHTML : "closed";
      },
      popup: async (url) => {
        const w = window.open(url);
        await loaded({});
        try { return w.document.documentElement.outerHTML; } finally { w?.close(); }
      },
      socket: (url) => new Promise((done) => {
        const w = new WebSocket(url.replace(/^http/, "ws"));
        w.onopen = () => { done("open"); w.close(); };
        w.onerror = () => done("refused");
      }),
    };
    const found = {};
    for (const [name, url] of Object.entries(places))
      for (const [how, f] of Object.entries(tries))
        found[`${how} ${name}`] = await tell(() => f(url));
    return found;
  }, places);
}

// What the browser keeps for the origin of the page.
async function kept(page) {
  return page.evaluate(async () => {
    const tell = async (f) => { try { return await f(); } catch (e) { return e.name; } };
    return {
      cookie: await tell(() => document.cookie),
      set: await tell(() => {
        for (const name of ["tidepool_view", "tidepool_key", "planted"])
          for (const more of ["", "; path=/", "; path=/sandbox/b/",
                              `; domain=${location.hostname.replace(/^[^.]*\./, "")}; path=/`])
            document.cookie = `${name}=x${more}`;
        return document.cookie.includes("planted") ? "planted" : "nothing";
      }),
      storage: await tell(() => localStorage.getItem("login")),
      worker: await tell(async () => {
        await navigator.serviceWorker.register("worker.js", { scope: "/" });
        return "registered";
      }),
    };
  });
}

// Documents that a page makes itself, in which it might be somebody else: they say who they are.
async function disguises(page, url) {
  return page.evaluate(async (url) => {
    const text = `<script>(async () => {
      const tell = async (f) => { try { return String(await f()); } catch (e) { return e.name; } };
      const found = [window.origin, await tell(() => localStorage.getItem("login")),
        await tell(() => document.cookie),
        await tell(async () => (await fetch("${url}", { credentials: "include" })).status)];
      (opener || parent).postMessage(found, "*");
    })()<` + "/script>";
    const heard = () => new Promise((done) => {
      window.onmessage = (m) => done(m.data);
      setTimeout(() => done("silent"), 1500);
    });
    const addresses = {
      blob: URL.createObjectURL(new Blob([text], { type: "text/html" })),
      data: `data:text/html,${encodeURIComponent(text)}`,
      script: `javascript:${encodeURIComponent(JSON.stringify(text))}`,
    };
    const found = {};
    for (const [name, at] of Object.entries(addresses)) {
      const f = document.createElement("iframe");
      f.src = at;
      document.body.append(f);
      found[`frame ${name}`] = await heard();
      f.remove();
      const w = window.open(at);
      found[`popup ${name}`] = await heard();
      w?.close();
    }
    const f = document.createElement("iframe");
    f.srcdoc = text;
    document.body.append(f);
    found["frame text"] = await heard();
    return found;
  }, url);
}

const cookies = async () => (await context.cookies()).map(
  (c) => ({ name: c.name, domain: c.domain, path: c.path, httpOnly: c.httpOnly,
            sameSite: c.sameSite, secure: c.secure }));

// ---- the visit ----

const at = (path) => want.url + path;
const login = (name) => at(`/sandbox/${name}/?api_key=${want.key}`);

async function open(url) {
  const page = await context.newPage();
  const answer = await page.goto(url);
  return { page, answer };
}

// The console's login, as it would be kept for the origin of the API.
const home = (await open(at("/healthz"))).page;
await home.evaluate(() => localStorage.setItem("login", "of the console"));
const b = await open(login("b"));
seen.b = { url: b.page.url(), works: await works(b.page) };
const a = await open(login("a"));
seen.a = { url: a.page.url(), works: await works(a.page) };
if (want.screenshot) await a.page.screenshot({ path: want.screenshot });
seen.before = await cookies();

const hostOf = (id) => at("").replace(/\/\/[^:/]*/, `//8080-${id}.${new URL(want.url).hostname}`);
const places = { sandbox: at("/sandbox/b/data.json"), page: at("/sandbox/b/"),
                 code: at("/sandbox/b/part.js"), api: at("/api/v1/sandbox"),
                 console: at("/healthz"),
                 terminal: at("/api/v1/terminal/sandbox/b/ws") };
seen.attack = await attack(a.page, places);
seen.hits = await (await fetch(`${want.service}/sandbox/b/hits`, {
  headers: { authorization: `Bearer ${want.key}` },
})).json();
if (want.hosts) seen.host = await attack(a.page, { host: `${hostOf(want.ids.b)}/data.json` });
seen.disguises = await disguises(a.page, at("/sandbox/b/data.json"));
seen.kept = await kept(a.page);
seen.reach = await a.page.evaluate(async () => {
  try { return await (await fetch("reach", { method: "POST", credentials: "include" })).text(); }
  catch (e) { return e.name; }
});
seen.after = await cookies();
seen.login = await home.evaluate(() => localStorage.getItem("login"));

// Other ways to a page of a sandbox on the address of the API.
const router = await open(at(`/sandboxes/router/${want.ids.a}/8080/`));
seen.router = { works: await works(router.page), attack: await attack(router.page, places) };

// What came through headers must not be kept for an address of the service.
seen.poison = await a.page.evaluate(async ([url, id]) => {
  try {
    const r = await fetch(url, { headers: { "E2b-Sandbox-Id": id, "E2b-Sandbox-Port": "8080",
                                            "X-Poison": "1" } });
    return await r.text();
  } catch (e) { return e.name; }
}, [at("/openapi.json"), want.ids.a]);
seen.fresh = (await (await open(at("/openapi.json"))).page.content()).includes("poisoned");

// The viewer is still who it was, and goes where links and forms of the page lead.
const tell = async (f) => { try { return await f(); } catch (e) { return e.name; } };
a.page.setDefaultTimeout(10000);
seen.again = await tell(async () => {
  const again = await open(at("/sandbox/b/"));
  return { status: again.answer.status(), title: await again.page.title() };
});
seen.link = await tell(async () => {
  await a.page.click("a");
  await a.page.waitForURL(/second/);
  return a.page.title();
});
seen.form = await tell(async () => {
  await a.page.goBack();
  await a.page.click("button");
  await a.page.waitForURL(/sent/);
  return a.page.title();
});
if (want.closed) {
  const closed = await open(login(want.ids.closed));
  seen.closed = { url: closed.page.url(), works: await works(closed.page) };
}
await browser.close();
console.log(JSON.stringify(seen));
