// SPDX-License-Identifier: MIT
// `mcp` at create, and the official client of MCP at getMcpUrl(): node gateway.mjs
// E2B_MODULES and MCP_MODULES are the node_modules of the two; prints what it saw as JSON.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const load = (root, ...path) => import(pathToFileURL(join(process.env[root], ...path)))
const { Sandbox } = await load('E2B_MODULES', 'e2b-2.51', 'dist', 'index.mjs')
const sdk = ['@modelcontextprotocol', 'sdk', 'dist', 'esm', 'client']
const { Client } = await load('MCP_MODULES', ...sdk, 'index.js')
const { StreamableHTTPClientTransport } = await load('MCP_MODULES', ...sdk, 'streamableHttp.js')

async function connect(url, token) {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { Authorization: `Bearer ${token}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  return client
}

const seen = {}
const text = (result) => result.content[0].text
// A server of somebody else: speaks MCP over its input and output.
const OTHER = `
import json, os, sys
def say(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        say(m["id"], {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "other", "version": "1"}})
    elif m["method"] == "tools/list":
        say(m["id"], {"tools": [{"name": "shout", "description": "Shouts",
            "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}},
                            "required": ["what"]}}]})
    elif m["method"] == "tools/call":
        what = m["params"]["arguments"]["what"]
        if what == "die":
            sys.exit(3)
        say(m["id"], {"content": [{"type": "text",
            "text": what.upper() + os.environ.get("MARK", "")}]})
`
const box = await Sandbox.create({ mcp: { filesystem: { paths: ['/home/user'] }, memory: {} } })
try {
  const url = box.getMcpUrl()
  seen.url = url.replace(box.sandboxId, 'ID')
  const token = await box.getMcpToken()
  const client = await connect(url, token)
  const { tools } = await client.listTools()
  seen.tools = tools.map((x) => x.name)
  seen.wrote = text(await client.callTool({
    name: 'write_file', arguments: { path: '/home/user/note.txt', content: 'from MCP' } }))
  seen.note = await box.files.read('/home/user/note.txt')
  seen.owner = (await box.commands.run('stat -c %U /home/user/note.txt')).stdout
  const bad = await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/shadow' } })
  seen.outside = [bad.isError, text(bad)]
  await client.close()

  // A handle that joins later reads the token from the sandbox.
  const again = await Sandbox.connect(box.sandboxId)
  seen.sameToken = await again.getMcpToken() === token
  const second = await connect(again.getMcpUrl(), token)
  seen.again = (await second.listTools()).tools.length
  await second.close()
  seen.stranger = await connect(url, 'wrong').then(() => 'let in', (e) => String(e))
  seen.twice = await again.commands.run("mcp-gateway --config '{}'", { user: 'root' })
    .catch((e) => [e.exitCode, e.stderr])
} finally {
  await box.kill()
}

seen.unknown = await Sandbox.create({ mcp: { browserbase: { apiKey: 'x' } } })
  .then(() => 'started', (e) => String(e))
seen.left = (await Sandbox.list().nextItems()).length

const own = await Sandbox.create('mcp-gateway')
try {
  await own.files.write('/home/user/other.py', OTHER)
  const config = JSON.stringify({ 'github/some/other': {
    installCmd: 'echo installed > /tmp/installed', runCmd: 'python3 /home/user/other.py',
    envs: { MARK: '!' } }, git: {} })
  await own.commands.run(`mcp-gateway --config '${config}'`,
    { user: 'root', envs: { GATEWAY_ACCESS_TOKEN: 'sesame' } })
  const client = await connect(own.getMcpUrl(), 'sesame')
  seen.installed = (await own.commands.run('cat /tmp/installed')).stdout
  seen.both = (await client.listTools()).tools.map((x) => x.name)
    .filter((x) => ['shout', 'git_status'].includes(x)).sort()
  seen.shout = text(await client.callTool({ name: 'shout', arguments: { what: 'hey' } }))
  seen.dies = await client.callTool({ name: 'shout', arguments: { what: 'die' } })
    .then(() => 'answered', (e) => String(e))
  seen.dead = await client.callTool({ name: 'shout', arguments: { what: 'hey' } })
    .then(() => 'answered', (e) => String(e))
  await client.close()
  seen.failing = await own.commands.run(
    `mcp-gateway --config '{"github/a/b": {"runCmd": "echo no such thing >&2; false"}}'`,
    { user: 'root' }).catch((e) => [e.exitCode, e.stderr])
} finally {
  await own.kill()
}
console.log(JSON.stringify(seen))
