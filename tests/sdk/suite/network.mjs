// SPDX-License-Identifier: MIT
// What sandboxes reach: hosts of the small internet that tests/lib/internet.py makes, where every
// address answers "reached ADDRESS".

import { add, until } from './harness.mjs'

const area = 'network'
const ALL = '0.0.0.0/0'
const NAMES = { 'a.example': '203.0.113.10', 'b.example': '203.0.113.11',
  'x.wild.example': '203.0.113.20' }

async function fetchInside(box, host) {
  return (await box.commands.run(`curl -gsS -m 10 http://${host}/ 2>/dev/null || true`)).stdout
}

async function reaches(t, box, ...hosts) {
  for (const host of hosts) {
    t.equal(await fetchInside(box, host), `reached ${NAMES[host] ?? host}`, `reaches ${host}`)
  }
}

async function misses(t, box, ...hosts) {
  for (const host of hosts) t.equal(await fetchInside(box, host), '', `does not reach ${host}`)
}

add(area, 'by default', async (t) => {
  const box = await t.create()
  await reaches(t, box, '203.0.113.5', 'a.example')
  await misses(t, box, '10.1.2.3', '169.254.169.254', '192.168.7.7')
})

add(area, 'no internet', async (t) => {
  const box = await t.create({ allowInternetAccess: false })
  await misses(t, box, '203.0.113.5', 'a.example')
  t.equal((await box.commands.run('echo works')).stdout, 'works\n', 'commands run')
})

add(area, 'addresses denied', async (t) => {
  const box = await t.create({ network: { denyOut: ['203.0.113.5', '198.18.0.0/15'] } })
  await misses(t, box, '203.0.113.5', '198.18.0.7', '198.19.0.7')
  await reaches(t, box, '203.0.113.6')
  const { network } = await box.getInfo()
  t.equal(network?.denyOut, ['203.0.113.5', '198.18.0.0/15'], 'info tells it')
}, 'network')

add(area, 'addresses allowed', async (t) => {
  const box = await t.create({
    network: { allowOut: ['203.0.113.0/28'], denyOut: ({ allTraffic }) => [allTraffic] },
  })
  await reaches(t, box, '203.0.113.10')
  await misses(t, box, '203.0.113.99', '198.18.0.7')
}, 'network')

add(area, 'names allowed', async (t) => {
  const box = await t.create({ network: { allowOut: ['a.example', '*.wild.example'],
    denyOut: [ALL] } })
  await reaches(t, box, 'a.example', 'x.wild.example')
  await misses(t, box, 'b.example', '203.0.113.11')
}, 'network')

add(area, 'what is refused', async (t) => {
  const make = (network) => t.create({ network })
  await t.rejects(make({ allowOut: ['a.example'] }), 'SandboxError', /must include 'ALL_TRAFFIC'/,
    'names without a denial')
  await t.rejects(make({ denyOut: ['a.example'] }), 'SandboxError',
    /invalid denied CIDR a\.example/, 'a name denied')
  await t.rejects(make({ allowOut: ['300.1.1.1/8'], denyOut: [ALL] }), 'SandboxError', /400/,
    'no address')
}, 'network')

add(area, 'changes while it runs', async (t) => {
  const box = await t.create()
  await reaches(t, box, '203.0.113.10')
  await box.updateNetwork({ denyOut: [ALL], allowOut: ['203.0.113.20'] })
  await misses(t, box, '203.0.113.10')
  await reaches(t, box, '203.0.113.20')
  await box.updateNetwork({})
  await reaches(t, box, '203.0.113.10')
  await t.Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  await misses(t, box, '203.0.113.10')
}, 'network')

add(area, 'denials survive a pause', async (t) => {
  const box = await t.create({ network: { denyOut: ['203.0.113.10'] } })
  await box.pause()
  await box.connect()
  await misses(t, box, '203.0.113.10')
  await reaches(t, box, '203.0.113.11')
}, 'network')

const SERVE = 'cd /srv 2>/dev/null || cd /tmp; exec python3 -m http.server 8000 --bind '

async function serving(box, bind) {
  await box.commands.run(SERVE + bind, { background: true, timeoutMs: 0 })
  await until(async () => (await box.commands.run(
    'curl -gs -o /dev/null http://localhost:8000/ && echo up || true')).stdout === 'up\n')
}

add(area, 'ports inside', async (t) => {
  const box = await t.create()
  const closed = await t.port(box, 8000, '/')
  t.equal([closed.status, closed.json], [502, {
    sandboxId: box.sandboxId, message: 'The sandbox is running but port is not open', port: 8000,
      code: 502,
  }], 'nothing listens')
  await serving(box, '127.0.0.1')
  const open = await t.port(box, 8000, '/')
  t.equal(open.status, 200, 'a service on loopback is reached')
  t.match(open.text, /Directory listing/, 'it answers')
  t.equal((await t.port(box, 8000, '/nope')).status, 404, 'with its own errors')
})

add(area, 'private ports', async (t) => {
  const box = await t.create({ network: { allowPublicTraffic: false } })
  t.ok(box.trafficAccessToken, 'there is a token')
  await serving(box, '0.0.0.0')
  const none = await t.port(box, 8000, '/')
  t.equal([none.status, none.json?.code, none.json?.sandboxId], [403, 403, box.sandboxId],
    'without it')
  t.match(none.json?.message ?? '', /Token header 'e2b-traffic-access-token' is missing/, 'and why')
  const wrong = await t.port(box, 8000, '/', { headers: { 'e2b-traffic-access-token': 'wrong' } })
  t.equal(wrong.status, 403, 'a wrong one')
  t.match(wrong.json?.message ?? '', /is invalid/, 'and why')
  const right = await t.port(box, 8000, '/',
    { headers: { 'e2b-traffic-access-token': box.trafficAccessToken } })
  t.equal(right.status, 200, 'with it')
  t.equal((await box.commands.run('echo ok')).stdout, 'ok\n', 'commands need none')
}, 'network')

add(area, 'the host that services see', async (t) => {
  const box = await t.create({ network: { maskRequestHost: 'masked.example:${PORT}' } })
  await box.files.write('/tmp/echo.py', `
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.headers["Host"].encode()
        self.send_response(200); self.send_header("Content-Length",
          str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", 8000), H).serve_forever()
`)
  await box.commands.run('python3 /tmp/echo.py', { background: true, timeoutMs: 0 })
  const answer = await until(async () => {
    const got = await t.port(box, 8000, '/')
    return got.status === 200 && got
  })
  t.equal(answer?.text, 'masked.example:8000', 'is the mask')
}, 'network')
