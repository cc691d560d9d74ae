// SPDX-License-Identifier: MIT
// Watching directories.

import { add, until } from './harness.mjs'

const area = 'watch'

// Watches a new directory; the events so far and the handle.
async function watched(t, name, options) {
  const { files } = await t.shared()
  await files.makeDir(name)
  const events = []
  const handle = await files.watchDir(name, (e) => { events.push(e) }, options)
  return { files, events, handle }
}

const seen = (events, type, name) =>
  until(() => events.some((e) => e.type === type && e.name === name), 15)

add(area, 'writes, creates, removes', async (t) => {
  const { files, events, handle } = await watched(t, 'w1')
  await files.write('w1/new.txt', 'x')
  t.equal(await seen(events, 'create', 'new.txt'), true, 'create')
  t.equal(await seen(events, 'write', 'new.txt'), true, 'write')
  await files.write('w1/new.txt', 'again')
  t.equal(await until(() => events.filter((e) => e.type === 'write').length >= 2), true,
    'write again')
  await files.rename('w1/new.txt', 'w1/renamed.txt')
  t.equal(await seen(events, 'rename', 'new.txt'), true, 'rename')
  t.equal(await seen(events, 'create', 'renamed.txt'), true, 'under its new name')
  await files.remove('w1/renamed.txt')
  t.equal(await seen(events, 'remove', 'renamed.txt'), true, 'remove')
  const { commands } = await t.shared()
  await commands.run('touch w1/mode && chmod 600 w1/mode')
  t.equal(await seen(events, 'chmod', 'mode'), true, 'chmod')
  await handle.stop()
  const n = events.length
  await files.write('w1/late', 'x')
  await commands.run('sleep 0.2')
  t.equal(events.length, n, 'nothing after stop')
})

add(area, 'one level', async (t) => {
  const { files, events, handle } = await watched(t, 'w2')
  await files.makeDir('w2/sub')
  t.equal(await seen(events, 'create', 'sub'), true, 'a directory')
  await files.write('w2/sub/inner', 'x')
  await files.write('w2/mark', 'x')
  await seen(events, 'write', 'mark')
  t.equal(events.some((e) => e.name.includes('inner')), false, 'what is below is not told')
  await handle.stop()
})

add(area, 'recursive', async (t) => {
  const { files } = await t.shared()
  await files.makeDir('w3/there/already')
  const { events, handle } = await watched(t, 'w3', { recursive: true })
  await files.write('w3/there/already/file', 'x')
  t.equal(await seen(events, 'write', 'there/already/file'), true, 'in what was there')
  await files.makeDir('w3/added')
  t.equal(await seen(events, 'create', 'added'), true, 'a new directory')
  await files.write('w3/added/file', 'x')
  t.equal(await seen(events, 'write', 'added/file'), true, 'and what is in it')
  await files.rename('w3/added', 'w3/moved')
  t.equal(await seen(events, 'create', 'moved'), true, 'moved')
  await files.write('w3/moved/second', 'x')
  t.equal(await seen(events, 'write', 'moved/second'), true, 'by its new name')
  await handle.stop()
})

add(area, 'entries', async (t) => {
  const { files, events, handle } = await watched(t, 'w4',
    { includeEntry: true, allowNetworkMounts: true })
  await files.write('w4/entry.txt', 'twelve bytes')
  await seen(events, 'write', 'entry.txt')
  const event = events.find((e) => e.type === 'write' && e.name === 'entry.txt')
  t.equal([event?.entry?.name, event?.entry?.path, event?.entry?.type],
    ['entry.txt', '/home/user/w4/entry.txt', 'file'], 'of a write')
  await files.remove('w4/entry.txt')
  await seen(events, 'remove', 'entry.txt')
  t.equal(events.find((e) => e.type === 'remove')?.entry, undefined, 'none of a remove')
  await handle.stop()
}, 'watchEntries')

add(area, 'what cannot be watched', async (t) => {
  const { files } = await t.shared()
  await t.rejects(files.watchDir('w-nope', () => {}), 'SandboxError', /not found/, 'a missing one')
  await files.write('w-file', 'x')
  await t.rejects(files.watchDir('w-file', () => {}), 'SandboxError', /not a directory/, 'a file')
})

add(area, 'the end of a watch', async (t) => {
  const { files } = await t.shared()
  await files.makeDir('w5')
  let end = null
  await files.watchDir('w5', () => {}, { timeoutMs: 700, onExit: (e) => { end = e ?? 'none' } })
  t.ok(await until(() => end), 'a time-out ends it')
  t.match(String(end), /deadline_exceeded|timed out/, 'and that is said')
  let stopped = false
  const handle = await files.watchDir('w5', () => {}, { onExit: () => { stopped = true } })
  await handle.stop()
  t.equal(await until(() => stopped), true, 'stop ends it')
})

add(area, 'many events', async (t) => {
  const { events, handle } = await watched(t, 'w6', { recursive: true })
  const { commands } = await t.shared()
  await commands.run('cd w6 && for i in $(seq 1 500); do echo $i >f$i; done')
  t.equal(await until(() =>
    new Set(events.filter((e) => e.type === 'create').map((e) => e.name)).size === 500),
    true, 'none is lost')
  await handle.stop()
})

add(area, 'two at once', async (t) => {
  const first = await watched(t, 'w7')
  const second = await watched(t, 'w7')
  await first.files.write('w7/both', 'x')
  t.equal(await seen(first.events, 'write', 'both'), true, 'the first')
  t.equal(await seen(second.events, 'write', 'both'), true, 'the second')
  await first.handle.stop()
  await second.files.write('w7/one', 'x')
  t.equal(await seen(second.events, 'write', 'one'), true, 'the other goes on')
  await second.handle.stop()
})

add(area, 'asking for events', async (t) => {
  const box = await t.shared()
  const headers = { 'Content-Type': 'application/json',
    'X-Access-Token': box.envdAccessToken ?? '' }
  const call = (method, body) => t.port(box, 49983, `/filesystem.Filesystem/${method}`, {
    method: 'POST', headers, body: JSON.stringify(body),
  })
  await box.files.makeDir('w8')
  const made = await call('CreateWatcher', { path: '/home/user/w8' })
  t.equal(made.status, 200, 'a watcher')
  const { watcherId } = made.json ?? {}
  t.equal((await call('GetWatcherEvents', { watcherId })).json, {}, 'nothing yet')
  await box.files.write('w8/asked', 'x')
  const events = []
  await until(async () => {
    events.push(...((await call('GetWatcherEvents', { watcherId })).json.events ?? []))
    return events.some((e) => e.type === 'EVENT_TYPE_WRITE')
  })
  t.equal(events[0], { name: 'asked', type: 'EVENT_TYPE_CREATE' }, 'the first event')
  t.equal((await call('RemoveWatcher', { watcherId })).status, 200, 'removed')
  const gone = await call('GetWatcherEvents', { watcherId })
  t.equal([gone.status, gone.json?.code], [404, 'not_found'], 'it is gone')
})
