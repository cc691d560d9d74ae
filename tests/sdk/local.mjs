// SPDX-License-Identifier: MIT
// The official client at servers of local sandboxes: node local.mjs URLS, a JSON object of names
// and addresses. Prints JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const urls = JSON.parse(process.argv[2]);
const SESSIONS = 25;

// A call that every server can answer; others are asked for their first tool with no arguments.
const calls = {
  "filesystem": ["list_directory", { path: "/data" }],
  "terminal": ["show_security_rules", {}],
  "desktop-commander": ["list_directory", { path: "/data" }],
  "code-executor": ["get_environment_config", {}],
  "code-runner": ["run-code", { languageId: "shellscript", code: "echo hi" }],
  "localmemory": ["read_graph", {}],
};

async function connect(url) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function visit(name, url) {
  const client = await connect(url);
  const { tools } = await client.listTools();
  const [tool, args] = calls[name] ?? [tools[0].name, {}];
  const got = await client.callTool({ name: tool, arguments: args })
    .catch((e) => ({ isError: true, content: [{ text: e.message }], code: e.code }));
  await client.close();
  return { tools: tools.map((t) => t.name), isKnown: name in calls, code: got.code ?? 0,
           isError: got.isError ?? false, text: got.content[0]?.text ?? "" };
}

// As Klavis' client of MCP-Atlas does it: a session for every call.
async function hurry(name, url) {
  let n = 0;
  for (let i = 0; i < SESSIONS; i++) {
    const client = await connect(url);
    const got = await client.callTool({ name: calls[name][0], arguments: calls[name][1] });
    n += got.isError ? 0 : 1;
    await client.close();
  }
  return n;
}

async function everything(url) {
  const client = await connect(url), seen = [];
  const text = async (name, args, options) =>
    (await client.callTool({ name, arguments: args }, undefined, options)).content[0].text;
  const out = { server: client.getServerVersion().name };
  out.tools = (await client.listTools()).tools.map((t) => t.name);
  out.echo = await text("echo", { message: "hello" });
  out.sum = await text("get-sum", { a: 2, b: 3 });
  out.structured = (await client.callTool({ name: "get-structured-content",
    arguments: { location: "New York" } })).structuredContent !== undefined;
  out.image = (await client.callTool({ name: "get-tiny-image", arguments: {} }))
    .content.some((c) => c.type === "image");
  out.long = await text("trigger-long-running-operation", { duration: 0.2, steps: 4 },
                        { onprogress: (p) => seen.push(p.progress) });
  out.progress = seen;
  out.resources = (await client.listResources()).resources.length;
  out.prompts = (await client.listPrompts()).prompts.length;
  out.unknown = await client.callTool({ name: "nope", arguments: {} })
    .then((r) => r.isError, (e) => typeof e.code === "number");
  await client.close();
  const others = await Promise.all([1, 2, 3, 4].map(async (i) => {
    const other = await connect(url);
    const got = await other.callTool({ name: "echo", arguments: { message: `from ${i}` } });
    await other.close();
    return got.content[0].text;
  }));
  return { ...out, others };
}

const out = { visited: {}, hurried: {} };
for (const [name, url] of Object.entries(urls)) {
  if (name === "everything") {
    out.everything = await everything(url);
    continue;
  }
  out.visited[name] = await visit(name, url);
  if (name === "filesystem" || name === "localmemory")
    out.hurried[name] = await hurry(name, url);
}
out.sessions = SESSIONS;
console.log(JSON.stringify(out));
