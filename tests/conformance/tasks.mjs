// SPDX-License-Identifier: MIT
// The tasks of the official client against the server of this folder: node tasks.mjs URL.
// Prints JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema, TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const base = process.argv[2];
const notices = new Set();

function newClient() {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: "accept", content: { confirm: true } }));
  client.setNotificationHandler(TaskStatusNotificationSchema,
                                (n) => { notices.add(n.params.status); });
  return client;
}

// The kinds of messages, and the last one's text.
async function follow(client, name, args = {}) {
  const kinds = [];
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args },
                                                          CallToolResultSchema, { task: {} });
  for await (const m of stream)
    kinds.push(m.type === "result" ? "result: " + m.result.content[0].text : m.type);
  return kinds;
}

async function begin(client, name, args = {}) {
  const made = await client.request(
    { method: "tools/call", params: { name, arguments: args, task: { ttl: 60000 } } },
    CreateTaskResultSchema);
  return made.task.taskId;
}

const code = (promise) => promise.then(() => 0, (e) => e.code);

async function use(client) {
  const tasks = client.experimental.tasks, out = {};
  out.capability = client.getServerCapabilities().tasks;
  const tools = Object.fromEntries((await client.listTools()).tools.map((t) => [t.name, t]));
  out.support = {};
  for (const name of ["slow_compute", "failing_job"])
    out.support[name] = tools[name].execution.taskSupport;
  out.slow = await follow(client, "slow_compute", { seconds: 1, label: "sdk" });
  out.asked = (await follow(client, "confirm_delete", { filename: "x" })).at(-1).slice(8, 15);
  const failing = await begin(client, "failing_job");
  out.failing = (await tasks.getTaskResult(failing, CallToolResultSchema)).content[0].text;
  out.broken = (await follow(client, "protocol_error_job")).at(-1);
  const endless = await begin(client, "slow_compute", { seconds: 600 });
  out.cancelled = (await tasks.cancelTask(endless)).status;
  out.again = await code(tasks.cancelTask(endless));
  out.missing = await code(tasks.getTask("none"));
  out.sync = await code(client.request({ method: "tools/call",
                                         params: { name: "failing_job", arguments: {} } },
                                       CallToolResultSchema));
  out.unneeded = await code(begin(client, "greet", { name: "x" }));
  out.listed = (await tasks.listTasks()).tasks.some((t) => t.taskId === endless);
  return out;
}

const results = {};
const streamable = newClient();
await streamable.connect(new StreamableHTTPClientTransport(new URL(base + "/mcp")));
// The stream of notices opens in the background.
await new Promise((done) => setTimeout(done, 300));
results.streamable = await use(streamable);
await streamable.close();
const older = newClient();
await older.connect(new SSEClientTransport(new URL(base + "/sse")));
results.older = await use(older);
await older.close();
console.log(JSON.stringify({ ...results, notices: [...notices] }));
process.exit(0);
