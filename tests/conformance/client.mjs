// SPDX-License-Identifier: MIT
// The official client against the server of this folder: node client.mjs URL. Prints JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const base = process.argv[2];
const seen = { logs: 0, progress: [], updated: [], toolsChanged: 0 };

function newClient() {
  const client = new Client({ name: "test", version: "1" },
                            { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: "assistant", model: "none", content: { type: "text", text: "sampled" } }));
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: "accept", content: { username: "ann", email: "ann@example.com" } }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => { seen.logs++; });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => { seen.toolsChanged++; });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema,
                                (n) => { seen.updated.push(n.params.uri); });
  return client;
}

async function until(condition) {
  for (let i = 0; i < 500 && !condition(); i++)
    await new Promise((done) => setTimeout(done, 10));
}

async function use(client) {
  const text = async (name, args = {}, options) =>
    (await client.callTool({ name, arguments: args }, undefined, options)).content[0].text;
  const out = {};
  out.tools = [];
  let page;
  do {
    page = await client.listTools(page?.nextCursor ? { cursor: page.nextCursor } : {});
    out.tools.push(...page.tools.map((t) => t.name));
  } while (page.nextCursor);
  out.sum = (await client.callTool({ name: "sum", arguments: { a: 2 } })).structuredContent;
  out.sampling = await text("test_sampling", { prompt: "hello" });
  out.elicitation = await text("test_elicitation", { message: "who?" });
  await client.setLoggingLevel("debug");
  out.logging = await text("test_tool_with_logging");
  out.progress = await text("test_tool_with_progress", {},
                            { onprogress: (p) => seen.progress.push(p.progress) });
  out.read = (await client.readResource({ uri: "test://template/7/data" })).contents[0].text;
  out.prompt = (await client.getPrompt({ name: "test_prompt_with_arguments",
                                         arguments: { arg1: "x", arg2: "y" } })).messages.length;
  out.missing = await client.readResource({ uri: "test://none" }).catch((e) => e.code);
  const stop = new AbortController();
  const endless = client.callTool({ name: "forever", arguments: {} }, undefined,
                                  { signal: stop.signal }).catch(() => "cancelled");
  setTimeout(() => stop.abort(), 100);
  out.forever = await endless;
  await client.subscribeResource({ uri: "test://watched-resource" });
  await text("test_trigger_tool_change");
  await until(() => seen.updated.length > 0 && seen.toolsChanged > 0);
  return out;
}

const results = {};
const streamable = newClient();
await streamable.connect(new StreamableHTTPClientTransport(new URL(base + "/mcp")));
// The stream of notices opens in the background.
await new Promise((done) => setTimeout(done, 300));
results.streamable = await use(streamable);
await streamable.transport.terminateSession();
await streamable.close();
const older = newClient();
await older.connect(new SSEClientTransport(new URL(base + "/sse")));
results.older = await use(older);
await older.close();
console.log(JSON.stringify({ ...results, seen }));
process.exit(0);
