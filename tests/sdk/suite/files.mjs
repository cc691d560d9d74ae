// SPDX-License-Identifier: MIT
// Files: read, write, list, info, metadata, signed addresses.

import { add } from './harness.mjs'

const area = 'files'
const bytes = (text) => new TextEncoder().encode(text)
const buffer = (text) => bytes(text).buffer

function stream(...texts) {
  return new ReadableStream({
    start(out) {
      for (const text of texts) out.enqueue(bytes(text))
      out.close()
    },
  })
}

async function drain(readable) {
  const parts = []
  for await (const part of readable) parts.push(part)
  return Buffer.concat(parts)
}

add(area, 'write and read', async (t) => {
  const { files } = await t.shared()
  const info = await files.write('hello.txt', 'Hello!')
  t.equal([info.name, info.type, info.path], ['hello.txt', 'file', '/home/user/hello.txt'],
    'what write tells')
  t.equal(await files.read('hello.txt'), 'Hello!', 'text')
  t.equal(await files.read('/home/user/hello.txt'), 'Hello!', 'by its whole path')
  t.equal(await files.read('~/hello.txt'), 'Hello!', 'below a tilde')
  await files.write('hello.txt', 'Bye')
  t.equal(await files.read('hello.txt'), 'Bye', 'overwritten')
  await files.write('deep/er/still/file', 'there')
  t.equal(await files.read('deep/er/still/file'), 'there', 'directories are made')
  await files.write('späce dir/ä&b=c?#%41+.txt', 'odd')
  t.equal(await files.read('späce dir/ä&b=c?#%41+.txt'), 'odd', 'a name that needs care')
})

add(area, 'formats', async (t) => {
  const { files } = await t.shared()
  const text = 'ünï\n日本\u0000end'
  await files.write('formats', text)
  t.equal(await files.read('formats', { format: 'text' }), text, 'text')
  const got = await files.read('formats', { format: 'bytes' })
  t.equal(Buffer.from(got).toString('hex'), Buffer.from(text).toString('hex'), 'bytes')
  t.equal(await (await files.read('formats', { format: 'blob' })).text(), text, 'blob')
  t.equal((await drain(await files.read('formats', { format: 'stream' }))).toString(), text,
    'stream')
})

add(area, 'what can be written', async (t) => {
  const { files } = await t.shared()
  await files.write('from-buffer', buffer('buffer'))
  t.equal(await files.read('from-buffer'), 'buffer', 'ArrayBuffer')
  await files.write('from-blob', new Blob(['blo', 'b']))
  t.equal(await files.read('from-blob'), 'blob', 'Blob')
  await files.write('from-stream', stream('str', 'eam'))
  t.equal(await files.read('from-stream'), 'stream', 'ReadableStream')
  const every = new Uint8Array(256).map((_, i) => i)
  await files.write('from-bytes', every.buffer)
  t.equal(Buffer.from(await files.read('from-bytes', { format: 'bytes' })), Buffer.from(every),
    'every byte')
})

add(area, 'empty files', async (t) => {
  const { files } = await t.shared()
  await files.write('empty', '')
  t.equal(await files.read('empty'), '', 'text')
  t.equal((await files.read('empty', { format: 'bytes' })).length, 0, 'bytes')
  t.equal((await drain(await files.read('empty', { format: 'stream' }))).length, 0, 'stream')
})

add(area, 'empty blobs', async (t) => {
  const { files } = await t.shared()
  await files.write('empty-blob', new Blob([]))
  t.equal((await files.read('empty-blob', { format: 'blob' })).size, 0, 'come back')
}, 'emptyBlob')

add(area, 'several files', async (t) => {
  const { files } = await t.shared()
  t.equal(await files.write([]), [], 'none')
  const one = await files.write([{ path: 'one-of-one', data: '1' }])
  t.equal(one.map((x) => x.path), ['/home/user/one-of-one'], 'one')
  const list = Array.from({ length: 12 },
    (_, i) => ({ path: `many/f${i}.txt`, data: `content ${i}` }))
  const made = await files.write([...list, { path: '/tmp/abs/a', data: buffer('abs') }])
  t.equal(made.map((x) => x.path), [...list.map((x) => `/home/user/${x.path}`), '/tmp/abs/a'],
    'in order')
  t.equal(made.every((x) => x.type === 'file'), true, 'all are files')
  t.equal(await Promise.all(list.map((x) => files.read(x.path))), list.map((x) => x.data),
    'contents')
  t.equal(await files.read('/tmp/abs/a'), 'abs', 'absolute')
})

add(area, 'large files', async (t) => {
  const { files, commands } = await t.shared()
  const large = Buffer.alloc(20 << 20)
  for (let i = 0; i < large.length; i += 4) large.writeUInt32LE(Math.imul(i, 2654435761) >>> 0, i)
  await files.write('large', large.buffer.slice(large.byteOffset, large.byteOffset + large.length))
  const sum = (await commands.run('stat -c %s large; sha256sum large')).stdout.split(/\s+/)
  t.equal(sum[0], String(large.length), 'its size')
  const { createHash } = await import('node:crypto')
  t.equal(sum[1], createHash('sha256').update(large).digest('hex'), 'its sum inside')
  const back = Buffer.from(await files.read('large', { format: 'bytes' }))
  t.equal(back.equals(large), true, 'read back')
  let length = 0
  for await (const part of await files.read('large', { format: 'stream' })) length += part.length
  t.equal(length, large.length, 'as a stream')
})

add(area, 'uploads of all kinds', async (t) => {
  const { files } = await t.shared()
  const text = 'x'.repeat(300_000)
  for (const opts of [{ useOctetStream: true }, { useOctetStream: false }, { gzip: true },
    { gzip: true, useOctetStream: true }]) {
    const name = `kind-${Object.keys(opts).join('-')}-${Object.values(opts).join('-')}`
    const info = await files.write(name, text, opts)
    t.equal(info.path, `/home/user/${name}`, `${JSON.stringify(opts)}: path`)
    t.equal(await files.read(name), text, `${JSON.stringify(opts)}: content`)
    t.equal(await files.read(name, { gzip: true }), text, `${JSON.stringify(opts)}: read with gzip`)
  }
  const made = await files.writeFiles([{ path: 'gz/a', data: 'a' }, { path: 'gz/b', data: 'b' }],
    { gzip: true })
  t.equal(made.map((x) => x.path), ['/home/user/gz/a', '/home/user/gz/b'], 'several with gzip')
  t.equal([await files.read('gz/a'), await files.read('gz/b')], ['a', 'b'], 'their contents')
}, 'uploads')

add(area, 'missing files', async (t) => {
  const { files } = await t.shared()
  const gone = /'\/home\/user\/nope' does not exist/
  await t.rejects(files.read('nope'), 'NotFoundError', gone, 'text')
  await t.rejects(files.read('nope', { format: 'bytes' }), 'NotFoundError', gone, 'bytes')
  await t.rejects(files.getInfo('nope'), 'NotFoundError', /file not found/, 'info')
  await t.rejects(files.list('nope'), 'NotFoundError', /path not found/, 'list')
  await t.rejects(files.rename('nope', 'other'), 'NotFoundError', /source file not found/, 'rename')
  t.equal(await files.exists('nope'), false, 'exists')
  await files.remove('nope')
  t.ok(true, 'remove has nothing to do')
})

add(area, 'missing files have a class', async (t) => {
  const { files } = await t.shared()
  await t.rejects(files.read('nope', { format: 'stream' }), 'FileNotFoundError', /does not exist/,
    'stream')
  await t.rejects(files.getInfo('nope'), 'FileNotFoundError', /file not found/, 'info')
}, 'errors')

add(area, 'what is not a file', async (t) => {
  const { files } = await t.shared()
  await files.makeDir('a-dir')
  await t.rejects(files.read('a-dir'), 'InvalidArgumentError', /is a directory/,
    'read of a directory')
  await t.rejects(files.write('a-dir', 'x'), 'InvalidArgumentError', /is a directory/,
    'write to one')
  await files.write('a-file', 'x')
  await t.rejects(files.list('a-file'), 'InvalidArgumentError', /not a directory/, 'list of a file')
  await t.rejects(files.write('a-file/below', 'x'), 'SandboxError', /path is a file/,
    'write below a file')
})

add(area, 'directories', async (t) => {
  const { files } = await t.shared()
  t.equal(await files.makeDir('dirs'), true, 'made')
  t.equal(await files.makeDir('dirs'), false, 'already there')
  t.equal(await files.makeDir('dirs/a/b/c'), true, 'with those above')
  t.equal(await files.exists('dirs/a/b/c'), true, 'exists')
  await files.write('dirs/a/b/c/file', 'x')
  await files.remove('dirs/a')
  t.equal([await files.exists('dirs/a'), await files.exists('dirs')], [false, true],
    'removed with all below')
})

async function tree(files, root) {
  for (const name of ['b/x/deep', 'a/2', 'a/1', 'c', 'b/x.y']) await files.write(`${root}/${name}`,
    name)
}

add(area, 'list', async (t) => {
  const { files } = await t.shared()
  await tree(files, 'tree')
  const names = async (depth) => (await files.list('tree', depth && { depth })).map((x) =>
    x.path.replace('/home/user/tree/', ''))
  t.equal(await names(), ['a', 'b', 'c'], 'one level')
  t.equal(await names(1), ['a', 'b', 'c'], 'depth 1')
  t.equal(await names(2), ['a', 'a/1', 'a/2', 'b', 'b/x', 'b/x.y', 'c'], 'depth 2')
  t.equal(await names(3), ['a', 'a/1', 'a/2', 'b', 'b/x', 'b/x/deep', 'b/x.y', 'c'], 'depth 3')
  const types = (await files.list('tree')).map((x) => x.type)
  t.equal(types, ['dir', 'dir', 'file'], 'types')
  await t.rejects(files.list('tree', { depth: 0 }), 'InvalidArgumentError', /depth/, 'no depth')
  await files.makeDir('tree/none')
  t.equal(await files.list('tree/none'), [], 'an empty one')
})

add(area, 'info', async (t) => {
  const { files, commands } = await t.shared()
  await files.write('facts', 'thirteen byte')
  const info = await files.getInfo('facts')
  t.equal([info.name, info.type, info.path], ['facts', 'file', '/home/user/facts'], 'names')
  t.equal(info.size, 13, 'size')
  t.equal([info.mode, info.permissions], [0o644, '-rw-r--r--'], 'mode')
  t.equal([info.owner, info.group], ['user', 'user'], 'owner')
  t.ok(info.modifiedTime instanceof Date && Math.abs(Date.now() - info.modifiedTime) < 600_000,
    'time')
  t.equal(info.symlinkTarget, undefined, 'no link')
  await commands.run('mkdir -m 750 facts.d && ln -sf facts link && chmod 4755 facts')
  const dir = await files.getInfo('facts.d')
  t.equal([dir.type, dir.mode, dir.permissions], ['dir', 0o750, 'drwxr-x---'], 'a directory')
  t.ok(dir.size > 0, 'has a size')
  const link = await files.getInfo('link')
  t.equal([link.symlinkTarget, link.type], ['/home/user/facts', 'file'], 'a link')
  t.match(link.permissions, /^Lrwxrwxrwx$/, 'its own mode')
  t.equal((await files.getInfo('facts')).permissions, 'urwxr-xr-x', 'set user id')
  t.equal((await files.getInfo('/tmp')).permissions, 'dtrwxrwxrwx', 'sticky')
  const root = await files.getInfo('/etc/passwd')
  t.equal([root.owner, root.group, root.type], ['root', 'root', 'file'], 'of root')
})

add(area, 'rename', async (t) => {
  const { files } = await t.shared()
  await files.write('old-name', 'moved')
  const info = await files.rename('old-name', 'new-dir/new-name')
  t.equal([info.name, info.type, info.path], ['new-name', 'file', '/home/user/new-dir/new-name'],
    'what it tells')
  t.equal([await files.exists('old-name'), await files.read('new-dir/new-name')], [false, 'moved'],
    'moved')
  await files.write('other', 'x')
  await files.rename('other', 'new-dir/new-name')
  t.equal(await files.read('new-dir/new-name'), 'x', 'over another')
  const dir = await files.rename('new-dir', 'newer-dir')
  t.equal([dir.type, await files.read('newer-dir/new-name')], ['dir', 'x'], 'a directory')
})

add(area, 'users', async (t) => {
  const { files, commands } = await t.shared()
  const info = await files.write('of-root', 'r', { user: 'root' })
  t.equal(info.path, '/root/of-root', 'relative to the home of root')
  t.equal((await files.getInfo('/root/of-root', { user: 'root' })).owner, 'root', 'it owns it')
  t.equal(await files.read('of-root', { user: 'root' }), 'r', 'reads it')
  await files.write('/tmp/mine/file', 'm')
  t.equal((await files.getInfo('/tmp/mine')).owner, 'user',
    'directories made on the way belong to the user')
  t.equal((await commands.run('cat /tmp/mine/file && rm -r /tmp/mine')).stdout, 'm',
    'who may use them')
})

add(area, 'metadata', async (t) => {
  const { files, commands } = await t.shared()
  const metadata = { author: 'ada', purpose: 'some test: 1=2' }
  const made = await files.write('with-meta', 'x', { metadata })
  t.equal(made.metadata, metadata, 'write tells it')
  t.equal((await files.getInfo('with-meta')).metadata, metadata, 'info tells it')
  await files.makeDir('meta-dir')
  const moved = await files.rename('with-meta', 'meta-dir/moved')
  t.equal(moved.metadata, metadata, 'rename keeps it')
  t.equal((await files.list('meta-dir'))[0].metadata, metadata, 'list tells it')
  await files.write('meta-dir/moved', 'y', { metadata: { only: 'this' } })
  t.equal((await files.getInfo('meta-dir/moved')).metadata, { only: 'this' }, 'replaced as a whole')
  await files.write('meta-dir/moved', 'z')
  t.equal((await files.getInfo('meta-dir/moved')).metadata, undefined,
    'cleared by a write without any')
  const many = await files.write([{ path: 'meta-dir/1', data: '1' },
    { path: 'meta-dir/2', data: '2' }], { metadata })
  t.equal(many.map((x) => x.metadata), [metadata, metadata], 'of several files')
  await commands.run(
    `python3 -c 'import os; os.setxattr("/home/user/meta-dir/1", "user.e2b.inside", b"yes")'`)
  t.equal((await files.getInfo('meta-dir/1')).metadata, { ...metadata, inside: 'yes' },
    'set inside')
  await t.rejects(files.write('bad-meta', 'x', { metadata: { 'bad key': 'ü' } }),
    'InvalidArgumentError', /./, 'refused when it cannot be')
}, 'fileMetadata')

add(area, 'signed addresses', async (t) => {
  const box = await t.shared('secured', { secure: true })
  await box.files.write('signed.txt', 'signed')
  const get = async (url) => fetch(url)
  const url = await box.downloadUrl('signed.txt', { useSignatureExpiration: 10_000 })
  t.equal(await (await get(url)).text(), 'signed', 'read')
  const plain = await box.downloadUrl('signed.txt')
  t.equal(await (await get(plain)).text(), 'signed', 'without an end')
  const late = new URL(url)
  late.searchParams.set('signature_expiration', '1')
  const bad = await get(late)
  t.equal([bad.status, (await bad.json()).code], [401, 401], 'a changed end is refused')
  const expired = await box.downloadUrl('signed.txt', { useSignatureExpiration: -100 })
  const answer = await get(expired)
  t.equal([answer.status, await answer.json()],
    [401, { code: 401, message: 'signature is already expired' }], 'expired')
  const other = new URL(plain)
  other.searchParams.set('path', 'other.txt')
  t.equal((await get(other)).status, 401, 'for another path')
})

add(area, 'signed uploads', async (t) => {
  const box = await t.shared('secured', { secure: true })
  const post = async (url, text) => {
    const form = new FormData()
    form.append('file', new Blob([text]), 'up.txt')
    return fetch(url, { method: 'POST', body: form })
  }
  const up = await post(await box.uploadUrl('up.txt', { useSignatureExpiration: 10_000 }),
    'uploaded')
  t.equal(up.status, 200, 'accepted')
  t.equal(await up.json(), [{ name: 'up.txt', path: '/home/user/up.txt', type: 'file' }],
    'what it answers')
  t.equal(await box.files.read('up.txt'), 'uploaded', 'it is there')
  const root = await post(await box.uploadUrl('up.txt',
    { user: 'root', useSignatureExpiration: 10_000 }), 'root')
  t.equal((await root.json())[0].path, '/root/up.txt', 'as root')
  const expired = await post(await box.uploadUrl('up.txt', { useSignatureExpiration: -100 }),
    'late')
  t.equal([expired.status, await expired.json()],
    [401, { code: 401, message: 'signature is already expired' }], 'expired')
  const read = await box.downloadUrl('up.txt', { useSignatureExpiration: 10_000 })
  t.equal((await post(read, 'wrong')).status, 401, 'a signature for reading does not write')
  t.equal(await box.files.read('up.txt'), 'uploaded', 'nothing changed')
})

add(area, 'requests that no client makes', async (t) => {
  const box = await t.shared('open', { secure: false })
  await box.files.write('ranges', '0123456789')
  const token = box.envdAccessToken ? { 'X-Access-Token': box.envdAccessToken } : {}
  const get = (headers, path = 'ranges') => t.port(box, 49983, `/files?path=${path}`, {
    headers: { ...token, 'Accept-Encoding': 'identity', ...headers },
  })
  const part = await get({ Range: 'bytes=2-4' })
  t.equal([part.status, part.text], [206, '234'], 'a range')
  t.equal((await get({ Range: 'bytes=20-' })).status, 416, 'a range past the end')
  const whole = await get({})
  t.equal(whole.headers.get('content-length'), '10', 'its length')
  t.match(whole.headers.get('content-disposition') ?? '', /inline; filename=ranges/, 'its name')
  t.equal((await get({}, '~nobody/x')).status, 400, 'the home of another')
  const post = await t.port(box, 49983, '/files?path=x', {
    method: 'POST', headers: { ...token, 'Content-Type': 'text/plain' }, body: 'x',
  })
  t.equal(post.status, 400, 'a kind of body that is none')
  t.match(post.json?.message ?? '', /unsupported content type/, 'and that is said')
  const odd = await t.port(box, 49983, '/nothing/here', { headers: token })
  t.equal([odd.status, odd.text.trim()], [404, '404 page not found'], 'an unknown path')
})
