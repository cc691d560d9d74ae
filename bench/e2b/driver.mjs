// SPDX-License-Identifier: MIT
// The client's side of bench/e2b/run: node driver.mjs PART [NUMBER], a line of JSON on standard
// output. The environment says which service is meant.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const entry = join(process.env.SDK_MODULES, 'e2b-2.51', 'dist', 'index.mjs')
const { Sandbox } = await import(pathToFileURL(entry))
const now = () => performance.now()
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
const MB = 1 << 20

// Create to the first command's result, in milliseconds; the end is not counted.
async function one(left) {
  const begin = now()
  const box = await Sandbox.create()
  await box.commands.run('true')
  const ms = now() - begin
  if (left) left.push(box)
  else await box.kill()
  return ms
}

async function tell(promises) {
  const done = await Promise.allSettled(promises)
  return {
    ms: done.filter((x) => x.status === 'fulfilled').map((x) => x.value),
    failures: done.filter((x) => x.status === 'rejected').map((x) => String(x.reason)),
  }
}

async function sequential(n) {
  const all = []
  for (let i = 0; i < n; i++) all.push(await tell([one()]))
  return { ms: all.flatMap((x) => x.ms), failures: all.flatMap((x) => x.failures) }
}

async function staggered(n) {
  const all = []
  for (let i = 0; i < n; i++) {
    all.push(one())
    all[i].catch(() => {})
    await sleep(200)
  }
  return tell(all)
}

async function burst(n) {
  await sequential(20) // the client's code is compiled, connections are open
  const left = [] // they end when all have been measured
  const result = await tell(Array.from({ length: n }, () => one(left)))
  await Promise.all(left.map((box) => box.kill()))
  return result
}

async function output(n) {
  const box = await Sandbox.create()
  // A client keeps all output as one string, which has a limit: several commands.
  const each = Math.min(n, 128)
  let length = 0
  const begin = now()
  for (let left = n; left > 0; left -= each) {
    const command = `head -c ${Math.min(left, each) * MB} /dev/zero | tr '\\0' x`
    length += (await box.commands.run(command, { timeoutMs: 0 })).stdout.length
  }
  const seconds = (now() - begin) / 1000
  await box.kill()
  return { seconds, mb: length / MB }
}

// The same past the client's decoding: bytes of the stream, which carries output as base64.
async function raw(n) {
  const box = await Sandbox.create()
  const command = `head -c ${n * MB} /dev/zero | tr '\\0' x`
  const text = Buffer.from(JSON.stringify({ process: { cmd: '/bin/bash', args: ['-c', command] } }))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(text.length, 1)
  const begin = now()
  const answer = await fetch(`${process.env.E2B_SANDBOX_URL}/process.Process/Start`, {
    method: 'POST', body: Buffer.concat([head, text]),
    headers: {
      'Content-Type': 'application/connect+json', 'X-Access-Token': box.envdAccessToken,
      'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '49983',
    },
  })
  let length = 0
  for await (const part of answer.body) length += part.length
  const seconds = (now() - begin) / 1000
  await box.kill()
  if (length < n * MB) throw new Error(`read ${length} bytes`)
  return { seconds, mb: n }
}

async function streams(n) {
  const boxes = await Promise.all(Array.from({ length: 10 },
    () => Sandbox.create({ timeoutMs: 600_000 })))
  process.stdout.write('ready\n')
  await new Promise((go) => process.stdin.once('data', go))
  const handles = []
  for (let i = 0; i < n; i += 50) {
    const batch = Array.from({ length: Math.min(50, n - i) }, (_, j) =>
      boxes[(i + j) % boxes.length].commands.run('exec sleep 600',
        { background: true, timeoutMs: 0 }))
    handles.push(...await Promise.all(batch))
  }
  process.stdout.write(`open ${handles.length}\n`)
  await new Promise((go) => process.stdin.once('data', go))
  await Promise.all(boxes.map((box) => box.kill()))
  await Promise.allSettled(handles.map((handle) => handle.wait()))
  return { streams: handles.length }
}

async function files(n) {
  const box = await Sandbox.create({ timeoutMs: 600_000 })
  const block = new Uint8Array(MB).fill(0x61)
  let left = n
  const source = new ReadableStream({
    pull(out) {
      if (left-- > 0) out.enqueue(block)
      else out.close()
    },
  }, { highWaterMark: 4 })
  let begin = now()
  await box.files.write('large', source, { useOctetStream: true, requestTimeoutMs: 0 })
  const write = (now() - begin) / 1000
  begin = now()
  let length = 0
  for await (const part of await box.files.read('large',
    { format: 'stream', requestTimeoutMs: 0 })) {
    length += part.length
  }
  const read = (now() - begin) / 1000
  await box.kill()
  if (length !== n * MB) throw new Error(`read ${length} bytes`)
  return { mb: n, write, read }
}

const parts = { sequential, staggered, burst, output, raw, streams, files }
const result = await parts[process.argv[2]](Number(process.argv[3]))
process.stdout.write(JSON.stringify(result) + '\n', () => process.exit(0))
