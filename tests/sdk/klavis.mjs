// SPDX-License-Identifier: MIT
// The npm client of Klavis. Usage: node klavis.mjs URL KEY
import { KlavisClient, Klavis } from "klavis";

const [url, key] = process.argv.slice(2);
const out = {};
const client = new KlavisClient({ apiKey: key, environment: url });

const made = await client.sandbox.createSandbox("slack");
out.made = made;
out.info = await client.sandbox.getSandbox("slack", made.sandboxId ?? made.sandbox_id);
const id = made.sandboxId ?? made.sandbox_id;
out.reset = await client.sandbox.resetSandbox("slack", id);
out.released = await client.sandbox.deleteSandbox("slack", id);

async function fault(promise) {
  try {
    await promise;
    return null;
  } catch (e) {
    return { name: e.constructor.name, status: e.statusCode, body: e.body };
  }
}

out.unknown = await fault(client.sandbox.createSandbox("nowhere"));
out.none = await fault(client.sandbox.getSandbox("slack", "none"));
const stranger = new KlavisClient({ apiKey: "wrong", environment: url });
out.stranger = await fault(stranger.sandbox.createSandbox("slack"));
out.isKnown = typeof Klavis === "object";

// A clash of names in the generator makes these two go to snowflake, whatever the server is.
const snow = await client.sandbox.createSandbox("snowflake").catch((e) => e);
if (!(snow instanceof Error)) {
  const snowId = snow.sandboxId ?? snow.sandbox_id;
  out.initialized = await client.sandbox.initializeSandbox(snowId, {
    products: [{ name: "tea", price: 5, stock: 1 }],
  }).catch((e) => e.body);
  out.dumped = await client.sandbox.dumpSandbox(snowId).catch((e) => e.body);
}
console.log(JSON.stringify(out));
