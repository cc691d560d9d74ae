// SPDX-License-Identifier: MIT
// Volumes: directories that outlive sandboxes and that several of them share.

import { add } from './harness.mjs'

const area = 'volumes'
const name = (what) => `${what}-${Math.random().toString(16).slice(2, 10)}`

// A volume of this case alone, destroyed when its sandboxes are gone.
async function withVolume(t, run) {
  const volume = await t.sdk.Volume.create(name('vol'))
  try {
    await run(volume)
  } finally {
    await t.done()
    await t.sdk.Volume.destroy(volume.volumeId).catch(() => {})
  }
}

add(area, 'create, list, connect, destroy', async (t) => {
  const { Volume } = t.sdk
  const volume = await Volume.create(name('one'))
  t.ok(volume.volumeId && volume.token, 'it has an id and a token')
  const listed = (await Volume.list()).filter((x) => x.volumeId === volume.volumeId)
  t.equal(listed.map((x) => x.name), [volume.name], 'it is listed')
  const again = await Volume.connect(volume.volumeId)
  t.equal([again.name, again.token], [volume.name, volume.token], 'connect finds it')
  await t.rejects(Volume.create(volume.name), 'VolumeError', /already exists/, 'a name twice')
  await t.rejects(Volume.create('no/slash'), 'VolumeError', /Invalid volume name/, 'a bad name')
  t.equal(await Volume.destroy(volume.volumeId), true, 'destroy')
  t.equal(await Volume.destroy(volume.volumeId), false, 'destroy again')
  await t.rejects(Volume.getInfo(volume.volumeId), 'VolumeNotFoundError', /not found/, 'it is gone')
}, 'volumes')

add(area, 'files without a sandbox', (t) => withVolume(t, async (volume) => {
  const written = await volume.writeFile('/a.txt', 'hello', { mode: 0o640, uid: 7, gid: 8 })
  t.equal([written.name, written.type, written.path, written.size, written.mode, written.uid,
    written.gid], ['a.txt', 'file', '/a.txt', 5, 0o640, 7, 8], 'what a write returns')
  t.ok(written.mtime instanceof Date && Date.now() - written.mtime < 3_600_000, 'with its time')
  t.equal(await volume.readFile('/a.txt'), 'hello', 'it is read')
  await t.rejects(volume.writeFile('/a.txt', 'no'), 'VolumeError', /already exists/, 'not replaced')
  await volume.writeFile('/a.txt', 'new', { force: true })
  t.equal(await volume.readFile('a.txt'), 'new', 'replaced by force')
  await t.rejects(volume.readFile('/none'), 'VolumePathNotFoundError', /not found/,
    'a missing file')
  await t.rejects(volume.writeFile('/no/dir', ''), 'VolumePathNotFoundError', /not found/,
    'a missing directory')
  t.equal(await volume.exists('/none'), false, 'exists')
  await t.rejects(volume.makeDir('/d/e/f'), 'VolumePathNotFoundError', /not found/, 'no parents')
  const dir = await volume.makeDir('/d/e/f', { force: true })
  t.equal([dir.type, dir.path], ['directory', '/d/e/f'], 'parents by force')
  await volume.writeFile('/d/e/x', 'x')
  t.equal((await volume.list('/')).map((x) => x.path).sort(), ['/a.txt', '/d'], 'list')
  t.equal((await volume.list('/', { depth: 3 })).map((x) => x.path).sort(),
    ['/a.txt', '/d', '/d/e', '/d/e/f', '/d/e/x'], 'three levels')
  const changed = await volume.updateMetadata('/a.txt', { mode: 0o600, uid: 0 })
  t.equal([changed.mode, changed.uid, changed.gid], [0o600, 0, 1000], 'change of owner and mode')
  await volume.remove('/d')
  t.equal((await volume.list('/')).map((x) => x.path), ['/a.txt'], 'a tree is removed')
  await t.rejects(volume.remove('/d'), 'VolumePathNotFoundError', /not found/, 'and gone')
  await t.rejects(volume.getInfo('/../x'), 'VolumeError', /not allowed/, 'no way out by ..')
}), 'volumes')

add(area, 'a large file as a stream', (t) => withVolume(t, async (volume) => {
  const piece = new Uint8Array(1 << 20).map((_, i) => i * 7)
  let left = 24
  const source = new ReadableStream({
    pull(out) {
      left-- > 0 ? out.enqueue(piece) : out.close()
    },
  })
  const written = await volume.writeFile('/big', source)
  t.equal(written.size, 24 << 20, 'all of it is written')
  const bytes = await volume.readFile('/big', { format: 'bytes' })
  t.ok(bytes.length === 24 << 20 && bytes.every((x, i) => x === ((i % (1 << 20)) * 7 & 255)),
    'and read back')
}), 'volumes')

add(area, 'one volume in two sandboxes', (t) => withVolume(t, async (volume) => {
  await volume.writeFile('/from-outside', 'first\n')
  const one = await t.create({ volumeMounts: { '/mnt/data': volume } })
  const seen = await one.commands.run('cat /mnt/data/from-outside && stat -c %u:%g /mnt/data/*')
  t.equal(seen.stdout, 'first\n1000:1000\n', 'a file from outside, with its owner')
  await one.commands.run('mkdir /mnt/data/d && echo second > /mnt/data/d/inside')
  t.equal((await volume.getInfo('/d/inside')).uid, 1000, 'the owner of a file from inside')
  const two = await t.create({ volumeMounts: { '/data/shared': volume.name } })
  t.equal((await two.commands.run('cat /data/shared/d/inside')).stdout, 'second\n',
    'another sandbox reads it')
  await two.commands.run('echo third >> /data/shared/d/inside')
  t.equal((await one.commands.run('cat /mnt/data/d/inside')).stdout, 'second\nthird\n',
    'both at once')
  t.equal(await volume.readFile('/d/inside'), 'second\nthird\n', 'and from outside')
  const other = await one.commands.run('touch /mnt/data/x', { user: 'nobody', cwd: '/' })
  t.equal(other.exitCode, 0, 'everybody may write')
  const info = await one.getInfo()
  t.equal(info.volumeMounts, [{ name: volume.name, path: '/mnt/data' }], 'getInfo shows it')
  await t.rejects(t.sdk.Volume.destroy(volume.volumeId), 'VolumeError', /in use/, 'not destroyed')
  await Promise.all([one.kill(), two.kill()])
  const three = await t.create({ volumeMounts: { '/again': volume } })
  t.equal((await three.commands.run('cat /again/d/inside')).stdout, 'second\nthird\n',
    'it outlives the sandboxes')
  const links = await three.commands.run('ln -s /etc/passwd /again/out && ln -s d/inside /again/in')
  t.equal(links.exitCode, 0, 'links are made')
  await t.rejects(volume.readFile('/out'), 'VolumeError', /leads out/, 'none leads out')
  t.equal(await volume.readFile('/in'), 'second\nthird\n', 'others are followed')
}), 'volumes')

add(area, 'pause keeps the mount', (t) => withVolume(t, async (volume) => {
  const box = await t.create({ volumeMounts: { '/mnt/v': volume } })
  await box.commands.run('echo kept > /mnt/v/file')
  await t.Sandbox.pause(box.sandboxId)
  const back = await t.Sandbox.connect(box.sandboxId)
  t.equal((await back.commands.run('cat /mnt/v/file')).stdout, 'kept\n', 'after a resume')
}), 'volumes')

add(area, 'refused mounts', (t) => withVolume(t, async (volume) => {
  const refused = (volumeMounts, pattern, what) =>
    t.rejects(t.create({ volumeMounts }), 'SandboxError', pattern, what)
  await refused({ '/mnt/x': 'no-such-volume' }, /not found/, 'an unknown volume')
  await refused({ 'mnt/x': volume }, /absolute/, 'a relative path')
  await refused({ '/mnt/../x': volume }, /clean/, 'a path with dots')
  await refused({ '/': volume }, /absolute and clean/, 'the root')
  await refused({ '/proc/x': volume }, /nothing can be mounted/, 'below /proc')
  await refused({ '/m': volume, '/m/n': volume }, /inside each other/, 'nested paths')
  const wrong = await t.api('GET', `/volumecontent/${volume.volumeId}/path?path=/`)
  t.equal(wrong.status, 401, 'a wrong token')
}), 'volumes')
