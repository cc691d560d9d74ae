// SPDX-License-Identifier: MIT
// The control plane: create and its options, info, kill, time-outs, connect, metrics, logs, and
// requests past the client that no client makes.

import { add, env, ownMetadata, until } from './harness.mjs'

const area = 'control'
const UNKNOWN = 'i0000000000000000000'
const lasts = (info) => Math.round((info.endAt - info.startedAt) / 1000)

add(area, 'create with defaults', async (t) => {
  const box = await t.create()
  t.match(box.sandboxId, /^[a-z0-9]+$/, 'the id fits into a host name')
  t.equal(await box.isRunning(), true, 'it runs')
  const info = await box.getInfo()
  t.equal(info.sandboxId, box.sandboxId, 'info has the id')
  t.ok(info.templateId, 'info has the template')
  t.equal(ownMetadata(info), {}, 'no metadata')
  t.ok(info.startedAt instanceof Date && !isNaN(info.startedAt), 'it began')
  t.equal(lasts(info), 300, 'it ends after 300 seconds')
  t.match(info.envdVersion, /^0\.6\.\d+$/, 'the version of the protocol')
})

add(area, 'what getInfo tells', async (t) => {
  const info = await (await t.shared()).getInfo()
  t.equal(info.state, 'running', 'state')
  t.equal(info.name, 'base', 'name of the template')
  t.ok(info.cpuCount >= 1, 'processors')
  t.ok(info.memoryMB >= 64, 'memory')
  t.equal(info.allowInternetAccess ?? true, true, 'internet')
  t.equal(info.lifecycle, { onTimeout: 'kill', autoResume: false }, 'lifecycle')
}, 'state')

add(area, 'create with options', async (t) => {
  const metadata = { user: 'ada', 'k ey': 'v&l=1', 'ünï': '日本 "quoted" \\ / %25' }
  const box = await t.create('base', {
    metadata, envs: { FOO: 'bar baz', EMPTY: '', 'QUOTED': `it's "so"` }, timeoutMs: 120_000,
  })
  const info = await box.getInfo()
  t.equal(ownMetadata(info), metadata, 'metadata comes back unchanged')
  t.equal(lasts(info), 120, 'it ends when asked to')
  const out = await box.commands.run('printf "%s|%s|%s" "$FOO" "${EMPTY-unset}" "$QUOTED"')
  t.equal(out.stdout, `bar baz||it's "so"`, 'commands see the environment')
})

add(area, 'what the environment says', async (t) => {
  const box = await t.create({ envs: { E2B_SANDBOX_ID: 'forged' } })
  const out = await box.commands.run('echo $E2B_SANDBOX $E2B_SANDBOX_ID $USER $HOME $(whoami)')
  t.equal(out.stdout.trim(), `true ${box.sandboxId} user /home/user user`, 'where it is, who it is')
  t.equal((await box.commands.run('cat /run/e2b/.E2B_SANDBOX_ID')).stdout, box.sandboxId,
    'the id is in a file, too')
})

add(area, 'a template that does not exist', async (t) => {
  await t.rejects(t.create('no-such-template'), 'SandboxError', /no-such-template.*not found/,
    'create is refused')
})

add(area, 'a wrong key', async (t) => {
  const opts = { apiKey: 'e2b_0123456789abcdef' }
  await t.rejects(t.Sandbox.create(opts), 'Error', /Unauthorized/, 'create')
  await t.rejects(t.Sandbox.getInfo(UNKNOWN, opts), 'Error', /Unauthorized/, 'getInfo')
})

add(area, 'sandboxes that do not exist', async (t) => {
  const gone = new RegExp(`${UNKNOWN}.*(not found|doesn't exist)|not found`, 'i')
  t.equal(await t.Sandbox.kill(UNKNOWN), false, 'kill is false')
  await t.rejects(t.Sandbox.getInfo(UNKNOWN), 'SandboxError', gone, 'getInfo')
  await t.rejects(t.Sandbox.setTimeout(UNKNOWN, 1000), 'SandboxError', gone, 'setTimeout')
  const raw = await t.api('GET', `/sandboxes/${UNKNOWN}`)
  t.equal(raw.status, 404, 'status')
  t.equal(raw.json.code, 404, 'the body has the code')
  t.match(raw.json.message, /not found|doesn't exist/, 'the body says why')
})

add(area, 'connect to nothing', async (t) => {
  await t.rejects(t.Sandbox.connect(UNKNOWN), 'SandboxNotFoundError', /not found|doesn't exist/i,
    'connect')
  await t.rejects(t.Sandbox.pause(UNKNOWN), 'SandboxNotFoundError', /not found|doesn't exist/i,
    'pause')
}, 'errors')

add(area, 'kill', async (t) => {
  const box = await t.create()
  t.equal(await t.Sandbox.kill(box.sandboxId), true, 'the first time')
  t.equal(await t.Sandbox.kill(box.sandboxId), false, 'the second time')
  t.equal(await box.isRunning(), false, 'it does not run')
  await t.rejects(box.getInfo(), 'SandboxError', /not found|doesn't exist/i, 'no info')
  const answer = await t.port(box, 49983, '/health')
  t.equal(answer.status, 502, 'its port answers 502')
  t.equal(answer.json, { sandboxId: box.sandboxId, message: 'The sandbox was not found',
    code: 502 }, 'the body is as expected')
})

add(area, 'kill of a handle', async (t) => {
  const box = await t.create()
  t.equal(await box.kill(), true, 'the first time')
  t.equal(await box.kill(), false, 'the second time')
}, 'killResult')

add(area, 'set a timeout', async (t) => {
  const box = await t.create({ timeoutMs: 100_000 })
  const first = await box.getInfo()
  await box.setTimeout(500_000)
  const longer = await box.getInfo()
  t.ok(longer.endAt - first.endAt > 300_000, 'it can be longer')
  await t.Sandbox.setTimeout(box.sandboxId, 20_000)
  const shorter = await box.getInfo()
  t.ok(first.endAt - shorter.endAt > 60_000, 'and shorter')
  t.equal(shorter.startedAt, first.startedAt, 'it began when it began')
})

add(area, 'a timeout ends it', async (t) => {
  const box = await t.create({ timeoutMs: 1000 })
  t.equal(await until(async () => !(await box.isRunning())), true, 'it stops running')
  t.equal(await until(async () => !(await t.Sandbox.kill(box.sandboxId))), true, 'it is gone')
})

add(area, 'a timeout of zero ends it', async (t) => {
  const box = await t.create()
  await box.setTimeout(0)
  t.equal(await until(async () => !(await box.isRunning())), true, 'it stops running')
})

add(area, 'connect', async (t) => {
  const box = await t.create({ timeoutMs: 200_000, metadata: { a: 'b' } })
  await box.files.write('note', 'kept')
  const again = await t.Sandbox.connect(box.sandboxId)
  t.equal(again.sandboxId, box.sandboxId, 'the same sandbox')
  t.equal(await again.files.read('note'), 'kept', 'its files')
  t.equal((await again.commands.run('echo $((6 * 7))')).stdout, '42\n', 'commands run')
  t.equal(ownMetadata(await again.getInfo()), { a: 'b' }, 'metadata')
  t.equal((await box.commands.run('echo old')).stdout, 'old\n', 'the old handle works')
})

add(area, 'connect never shortens', async (t) => {
  const box = await t.create({ timeoutMs: 200_000 })
  const before = (await box.getInfo()).endAt
  await t.Sandbox.connect(box.sandboxId, { timeoutMs: 10_000 })
  t.equal((await box.getInfo()).endAt, before, 'a shorter timeout changes nothing')
  await t.Sandbox.connect(box.sandboxId, { timeoutMs: 400_000 })
  t.ok((await box.getInfo()).endAt - before > 150_000, 'a longer one extends it')
}, 'pause')

add(area, 'metrics', async (t) => {
  const box = await t.shared()
  const points = await until(async () => {
    const all = await box.getMetrics()
    return all.length > 0 && all
  })
  t.ok(points, 'there are some')
  const last = points[points.length - 1]
  for (const name of ['cpuUsedPct', 'cpuCount', 'memUsed', 'memTotal', 'diskUsed', 'diskTotal']) {
    t.equal(typeof last[name], 'number', name)
  }
  t.ok(last.memTotal > last.memUsed && last.memUsed > 0, 'memory is plausible')
  t.ok(last.diskTotal > last.diskUsed, 'the disk is plausible')
  t.ok(Math.abs(Date.now() - last.timestamp) < 600_000, 'the time is about now')
  const batch = await t.api('GET', `/sandboxes/metrics?sandbox_ids=${box.sandboxId},${UNKNOWN}`)
  t.equal(batch.status, 200, 'of several sandboxes')
  t.equal(Object.keys(batch.json.sandboxes), [box.sandboxId], 'of those that exist')
})

add(area, 'metrics of a time', async (t) => {
  const box = await t.shared()
  await until(async () => (await box.getMetrics()).length > 0)
  const hour = 3600_000
  t.equal(await box.getMetrics({ start: new Date(Date.now() + hour),
    end: new Date(Date.now() + 2 * hour) }),
    [], 'nothing in a range that has none')
  t.ok((await box.getMetrics({ start: new Date(Date.now() - hour) })).length > 0, 'some since then')
}, 'metricsRange')

add(area, 'logs', async (t) => {
  const box = await t.shared()
  await box.commands.run('echo into the void')
  const v1 = await t.api('GET', `/sandboxes/${box.sandboxId}/logs?start=0&limit=100`)
  t.equal(v1.status, 200, 'v1')
  t.ok(Array.isArray(v1.json.logs) && Array.isArray(v1.json.logEntries), 'both lists')
  t.ok(v1.json.logs.every((x) => typeof JSON.parse(x.line).level === 'string'),
    'every line is JSON with a level')
  t.equal(v1.json.logs.length, v1.json.logEntries.length, 'of one length')
  t.ok(v1.json.logs.length > 0, 'it says something')
  const v2 = await t.api('GET', `/v2/sandboxes/${box.sandboxId}/logs?limit=1&direction=backward`)
  t.equal(v2.status, 200, 'v2')
  t.equal(v2.json.logs.length, 1, 'as many as asked for')
  for (const name of ['timestamp', 'message', 'level', 'fields']) {
    t.ok(name in v2.json.logs[0], name)
  }
  t.equal((await t.api('GET', `/sandboxes/${UNKNOWN}/logs`)).status, 404, 'of nothing')
})

add(area, 'both wires', async (t) => {
  const old = await t.api('POST', '/sandboxes', { templateID: 'base', timeout: 60 })
  t.equal(old.status, 201, 'POST /sandboxes')
  t.own.push(old.json.sandboxID)
  for (const name of ['sandboxID', 'templateID', 'clientID', 'envdVersion']) {
    t.equal(typeof old.json[name], 'string', `v1 ${name}`)
  }
  const open = await t.port(old.json.sandboxID, 49983, '/envs')
  t.equal(open.status, 200, 'v1 is not secured unless asked for')
  const made = await t.api('POST', '/v2/sandboxes', { templateID: 'base' })
  t.equal(made.status, 201, 'POST /v2/sandboxes')
  t.own.push(made.json.sandboxID)
  t.ok(made.json.envdAccessToken?.length >= 32, 'v2 is always secured')
  const detail = (await t.api('GET', `/sandboxes/${made.json.sandboxID}`)).json
  t.equal(lasts({ startedAt: new Date(detail.startedAt), endAt: new Date(detail.endAt) }), 300,
    'v2 ends after 300 seconds')
  t.equal(detail.envdAccessToken, made.json.envdAccessToken, 'the token is told again')
  const first = (await t.api('POST', '/sandboxes', { templateID: 'base' })).json
  t.own.push(first.sandboxID)
  const short = (await t.api('GET', `/sandboxes/${first.sandboxID}`)).json
  t.equal(lasts({ startedAt: new Date(short.startedAt), endAt: new Date(short.endAt) }), 15,
    'v1 ends after 15 seconds')
  const again = await t.api('POST', `/v2/sandboxes/${made.json.sandboxID}/connect`)
  t.ok([200, 201].includes(again.status), 'connect without a body')
  t.equal(again.json.envdAccessToken, made.json.envdAccessToken, 'connect tells the same token')
  const known = await t.api('GET', `/sandboxes/${made.json.sandboxID}-6532622b`)
  t.equal(known.json?.sandboxID, made.json.sandboxID, 'an id with the suffix of a client')
})

add(area, 'what old clients call', async (t) => {
  const box = await t.create({ timeoutMs: 30_000 })
  const path = `/sandboxes/${box.sandboxId}`
  const before = (await box.getInfo()).endAt
  t.equal((await t.api('POST', `${path}/refreshes`, { duration: 120 })).status, 204, 'refreshes')
  t.ok((await box.getInfo()).endAt > before, 'it is extended')
  t.equal((await t.api('POST', `${path}/resume`, { timeout: 30 })).status, 409,
    'resume of a running one')
  t.equal((await t.api('POST', `${path}/pause`)).status, 204, 'pause')
  t.equal((await t.api('POST', `${path}/pause`, {})).status, 409, 'pause of a paused one')
  t.equal((await t.api('POST', `${path}/timeout`, { timeout: 30 })).status, 404,
    'timeout of a paused one')
  const resumed = await t.api('POST', `${path}/resume`, { timeout: 60 })
  t.equal(resumed.status, 201, 'resume')
  t.equal(resumed.json.sandboxID, box.sandboxId, 'it answers with the sandbox')
  t.equal((await box.commands.run('echo back')).stdout, 'back\n', 'it runs')
})

add(area, 'what is refused', async (t) => {
  const refused = async (body, pattern, what, path = '/sandboxes') => {
    const answer = await t.api('POST', path, body)
    if (answer.json?.sandboxID) t.own.push(answer.json.sandboxID)
    t.equal([answer.status, answer.json?.code], [400, 400], `${what}: status`)
    t.match(answer.json?.message ?? '', pattern, `${what}: reason`)
  }
  const base = { templateID: 'base', timeout: 60 }
  await refused({}, /templateID/, 'no template')
  await refused({ templateID: 'base', timeout: 0 }, /timeout/i, 'no time')
  await refused({ ...base, timeout: 'long' }, /timeout/, 'a time that is no number')
  await refused({ ...base, metadata: { a: 1 } }, /metadata/, 'metadata that is no text')
  await refused({ ...base, volumeMounts: [{ name: 'none', path: '/data' }] }, /volume/i, 'volumes')
  await refused({ ...base, autoPauseMemory: false }, /autoPause/i, 'files only without a pause')
  await refused({ ...base, autoPause: true, autoPauseMemory: false, autoResume: { enabled: true } },
    /auto/i, 'files only with a resume')
  await refused({ ...base, network: { allowPublicTraffic: false } }, /secure/,
    'private traffic without a token')
  await refused({ ...base, network: { egressProxy: { address: '192.0.2.1:1080' } } },
    /egress|proxy/i, 'a proxy')
  const text = await fetch(`${env.api}/sandboxes`, {
    method: 'POST', body: '{"templateID":',
    headers: { 'X-API-Key': env.key, 'Content-Type': 'application/json' },
  })
  t.equal(text.status, 400, 'no JSON')
  t.equal((await text.json()).code, 400, 'no JSON: code')
})

add(area, 'health and keys', async (t) => {
  const health = await fetch(`${env.api}/health`)
  t.ok(health.status === 204 || health.status === 200, 'health needs no key')
  t.equal((await t.api('GET', '/v2/sandboxes', undefined, { 'X-API-Key': '' })).status, 401,
    'no key')
  const bearer = await fetch(`${env.api}/v2/sandboxes`,
    { headers: { Authorization: `Bearer ${env.key}` } })
  t.equal(bearer.status, 200, 'a key as a bearer token')
})

add(area, 'tokens guard the sandbox', async (t) => {
  const box = await t.shared('secured', { secure: true })
  const path = '/process.Process/List'
  const ask = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }
  const none = await t.port(box, 49983, path, ask)
  t.equal(none.status, 401, 'no token')
  t.equal(none.json, {
    code: 401,
    message: 'unauthorized access, please provide a valid access token or method signing if ' +
      'supported',
  }, 'the reason')
  const wrong = { ...ask, headers: { ...ask.headers, 'X-Access-Token': 'x'.repeat(64) } }
  t.equal((await t.port(box, 49983, path, wrong)).status, 401, 'a wrong token')
  t.equal((await t.port(box, 49983, '/health')).status, 204, 'health needs none')
  t.ok((await box.commands.list()).length >= 0, 'the client has it')
  const init = await t.port(box, 49983, '/init', { method: 'POST', body: '{}' })
  t.equal(init.status, 404, 'inner routes are not reachable')
  t.match(init.text, /reserved for the E2B control plane/, 'and that is said')
})

add(area, 'many at once', async (t) => {
  const boxes = await Promise.all(Array.from({ length: 8 }, (_, i) =>
    t.create({ metadata: { number: String(i) } })))
  t.equal(new Set(boxes.map((b) => b.sandboxId)).size, 8, 'eight sandboxes')
  const outs = await Promise.all(boxes.map((b) => b.commands.run('echo $E2B_SANDBOX_ID')))
  t.equal(outs.map((o) => o.stdout.trim()), boxes.map((b) => b.sandboxId), 'each runs its command')
  t.equal(await Promise.all(boxes.map((b) => t.Sandbox.kill(b.sandboxId))), Array(8).fill(true),
    'each is killed')
})

add(area, 'the lifecycle on a timeout', async (t) => {
  const box = await t.create({ timeoutMs: 1000,
    lifecycle: { onTimeout: 'pause', autoResume: false } })
  await box.files.write('kept', 'yes')
  t.equal(await until(async () => (await box.getInfo()).state === 'paused'), true, 'it is paused')
  t.equal((await box.getInfo()).lifecycle, { onTimeout: 'pause', autoResume: false },
    'as asked for')
  t.equal(await box.isRunning(), false, 'use does not wake it')
  const again = await t.Sandbox.connect(box.sandboxId, { timeoutMs: 60_000 })
  t.equal(await again.files.read('kept'), 'yes', 'connect does')
}, 'lifecycle')

add(area, 'waking on use', async (t) => {
  const box = await t.create({ timeoutMs: 30_000,
    lifecycle: { onTimeout: 'pause', autoResume: true } })
  await box.files.write('kept', 'yes')
  t.equal(await box.pause(), true, 'pause')
  t.equal(await box.files.read('kept'), 'yes', 'a read wakes it')
  t.equal((await box.getInfo()).state, 'running', 'it runs')
  await box.pause()
  t.equal((await box.commands.run('echo awake')).stdout, 'awake\n', 'a command wakes it')
}, 'lifecycle')
