// SPDX-License-Identifier: MIT
// Snapshots and forks: the files of a sandbox in others.

import { add } from './harness.mjs'

const area = 'snapshots'
const name = (what) => `${what}-${Math.random().toString(16).slice(2, 10)}`

add(area, 'snapshot, create from it, list, delete', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  await box.files.write('/home/user/kept', 'before')
  const snapshot = await box.createSnapshot()
  t.ok(snapshot.snapshotId, 'it has an id')
  await box.files.write('/home/user/kept', 'after')
  t.equal(await box.isRunning(), true, 'the sandbox goes on')
  const copy = await t.Sandbox.create(snapshot.snapshotId, { timeoutMs: 300_000 })
  t.equal(await copy.files.read('/home/user/kept'), 'before', 'its files')
  t.equal((await copy.commands.run('whoami')).stdout, 'user\n', 'its user')
  const pages = t.Sandbox.listSnapshots({ sandboxId: box.sandboxId })
  t.equal((await pages.nextItems()).map((x) => x.snapshotId), [snapshot.snapshotId], 'it is listed')
  t.equal(pages.hasNext, false, 'alone')
  t.equal(await t.Sandbox.deleteSnapshot(snapshot.snapshotId), true, 'delete')
  t.equal(await t.Sandbox.deleteSnapshot(snapshot.snapshotId), false, 'it is gone')
  t.equal(await copy.files.read('/home/user/kept'), 'before', 'who came from it goes on')
  await t.rejects(t.Sandbox.create(snapshot.snapshotId), 'Error', /not found/, 'no other does')
  await copy.kill()
}, 'snapshots')

add(area, 'a name', async (t) => {
  const box = await t.create({ timeoutMs: 300_000 })
  const alias = name('snap')
  const snapshot = await box.createSnapshot({ name: alias })
  t.equal(snapshot.names, [`${alias}:default`], 'its names')
  const copy = await t.Sandbox.create(alias, { timeoutMs: 300_000 })
  t.equal(await copy.isRunning(), true, 'create by the name')
  await copy.kill()
  t.equal(await t.Sandbox.deleteSnapshot(snapshot.snapshotId), true, 'delete')
}, 'snapshots')

add(area, 'fork', async (t) => {
  const box = await t.create({ timeoutMs: 300_000, envs: { WHO: 'origin' } })
  await box.files.write('/home/user/n', 'one')
  const forks = await box.fork({ count: 10, timeoutMs: 300_000 })
  t.equal(forks.length, 10, 'ten of them')
  t.ok(forks.every((x) => x instanceof t.Sandbox), 'all are sandboxes')
  await Promise.all(forks.map((x, i) => x.files.write('/home/user/n', `fork ${i}`)))
  const read = await Promise.all(forks.map((x) => x.files.read('/home/user/n')))
  t.equal(read, forks.map((_, i) => `fork ${i}`), 'each has its own files')
  t.equal(await box.files.read('/home/user/n'), 'one', 'the first one keeps its own')
  t.equal((await forks[3].commands.run('echo $WHO')).stdout, 'origin\n', 'the same environment')
  await box.pause()
  const [late] = await t.Sandbox.fork(box.sandboxId, { timeoutMs: 300_000 })
  t.equal(await late.files.read('/home/user/n'), 'one', 'also of a paused one')
  await Promise.all([...forks, late].map((x) => x.kill()))
  await t.rejects(t.Sandbox.fork('0'.repeat(32)), 'SandboxError', /doesn't exist|not found/i,
    'none of an unknown one')
}, 'snapshots')
