// SPDX-License-Identifier: MIT
// Pause and resume: with memory, files only, and what works while paused.

import { add, ownMetadata, until } from './harness.mjs'

const area = 'pause'
const COUNT = 'n=0; while :; do n=$((n+1)); echo $n >/tmp/m; mv /tmp/m /tmp/n; sleep 0.05; done'

// A background process that counts in memory; its pid.
async function counting(box) {
  const handle = await box.commands.run(COUNT, { background: true, timeoutMs: 0 })
  await until(() => box.files.exists('/tmp/n'))
  return handle
}

const count = async (box) => Number(await box.files.read('/tmp/n'))

add(area, 'with memory', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  const handle = await counting(box)
  await handle.disconnect()
  t.equal(await box.pause(), true, 'pause')
  t.equal(await box.pause(), false, 'it is paused already')
  t.equal((await box.getInfo()).state, 'paused', 'state')
  t.equal(await box.isRunning(), false, 'it does not run')
  const again = await t.Sandbox.connect(box.sandboxId, { timeoutMs: 300_000 })
  t.equal((await again.getInfo()).state, 'running', 'connect resumes it')
  const before = await count(again)
  t.ok(before > 0, 'its files are there')
  t.equal(await until(async () => (await count(again)) > before), true, 'its processes go on')
  t.ok((await again.commands.list()).some((p) => p.pid === handle.pid), 'by the same number')
  t.equal(await box.isRunning(), true, 'the old handle works')
  t.equal(await box.commands.kill(handle.pid), true, 'and may kill it')
}, 'pause')

add(area, 'while paused', async (t) => {
  const box = await t.create({ timeoutMs: 300_000, metadata: { paused: 'yes' } })
  await box.pause()
  await t.rejects(box.commands.run('true'), 'SandboxError', /not (found|running)|timeout/i,
    'no command')
  await t.rejects(box.files.read('x'), 'SandboxError', /not found|timeout/i, 'no file')
  await t.rejects(box.setTimeout(1000), 'SandboxError', /not found|doesn't exist|paused/i,
    'no timeout')
  const pages = t.Sandbox.list({ query: { state: ['paused'], metadata: { paused: 'yes' } } })
  t.ok((await pages.nextItems()).some((x) => x.sandboxId === box.sandboxId), 'it is listed')
  const info = await box.getInfo()
  t.equal(ownMetadata(info), { paused: 'yes' }, 'info works')
  t.equal(await box.kill(), true, 'kill')
  t.equal(await box.kill(), false, 'it is gone')
}, 'pause')

add(area, 'files only', async (t) => {
  const box = await t.create({ timeoutMs: 300_000, envs: { KEPT: 'env' } })
  const handle = await counting(box)
  await handle.disconnect()
  await box.files.write('/home/user/kept', 'file')
  t.equal(await box.pause({ keepMemory: false }), true, 'pause')
  t.equal((await box.getInfo()).state, 'paused', 'state')
  await box.connect({ timeoutMs: 300_000 })
  t.equal(await box.files.read('/home/user/kept'), 'file', 'files stay')
  t.equal((await box.commands.list()).some((p) => p.pid === handle.pid), false, 'processes do not')
  t.equal((await box.commands.run('echo $KEPT')).stdout, 'env\n', 'the environment stays')
  const first = await count(box)
  await box.commands.run('sleep 0.3')
  t.equal(await count(box), first, 'nothing counts any more')
}, 'pause')

add(area, 'files only is never woken by use', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  await box.pause({ keepMemory: false })
  t.equal(await box.isRunning(), false, 'it stays paused')
  t.equal((await box.getInfo()).state, 'paused', 'state')
}, 'pause')

add(area, 'several times', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  for (let i = 1; i <= 3; i++) {
    await box.commands.run(`echo ${i} >>log`)
    await box.pause()
    await box.connect()
  }
  t.equal(await box.files.read('log'), '1\n2\n3\n', 'nothing is lost')
}, 'pause')

add(area, 'a command under way', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  const handle = await box.commands.run('sleep 1; echo later; exit 3',
    { background: true, timeoutMs: 0 })
  await handle.disconnect()
  await box.pause()
  await box.connect({ timeoutMs: 300_000 })
  const again = await box.commands.connect(handle.pid, { timeoutMs: 0 })
  const e = await t.rejects(again.wait(), 'CommandExitError', /exit status 3/,
    'it ends after the resume')
  t.equal(e?.exitCode, 3, 'with its status')
}, 'pause')

add(area, 'a reboot', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  const handle = await counting(box)
  await handle.disconnect()
  await box.pause()
  await box.connect({ timeoutMs: 300_000, onResume: 'reboot' })
  t.ok((await count(box)) > 0, 'files stay')
  t.equal((await box.commands.list()).some((p) => p.pid === handle.pid), false, 'processes do not')
}, 'reboot')

add(area, 'tokens stay', async (t) => {
  const made = (await t.api('POST', '/sandboxes', {
    templateID: 'base', timeout: 300, secure: true, network: { allowPublicTraffic: false },
  })).json
  t.own.push(made.sandboxID)
  t.ok(made.envdAccessToken && made.trafficAccessToken, 'two tokens')
  t.ok(made.envdAccessToken !== made.trafficAccessToken, 'that differ')
  await t.api('POST', `/sandboxes/${made.sandboxID}/pause`, {})
  const back = await t.api('POST', `/sandboxes/${made.sandboxID}/connect`, { timeout: 300 })
  t.equal(back.status, 201, 'a resume is a 201')
  t.equal([back.json.envdAccessToken, back.json.trafficAccessToken],
    [made.envdAccessToken, made.trafficAccessToken], 'both are the same after it')
})
