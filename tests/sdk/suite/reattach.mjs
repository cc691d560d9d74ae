// SPDX-License-Identifier: MIT
// The client of test_reattach.py: reads orders, answers each with a line of JSON.

import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const entry = join(process.env.SDK_MODULES, `e2b-${process.env.SDK_VERSION}`, 'dist', 'index.mjs')
const { Sandbox } = await import(pathToFileURL(entry))
const PRINT = 'n=0; until [ -e /tmp/stop ]; do n=$((n+1)); echo $n; sleep 0.01; done; ' +
  'echo $n >/tmp/last'
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

let box, handle, ended
let text = ''
const onStdout = (part) => { text += part }

// The newest whole line; a line that a lost connection cut off is put an end to.
const last = () => Number(text.slice(0, text.lastIndexOf('\n')).split('\n').pop() || 0)

function follow(next) {
  handle = next
  ended = handle.wait().then((r) => ({ exitCode: r.exitCode }), (e) => ({ failure: String(e) }))
}

const orders = {
  async start() {
    box = await Sandbox.create({ timeoutMs: 600_000 })
    follow(await box.commands.run(PRINT, { background: true, timeoutMs: 0, onStdout }))
    return { pid: handle.pid }
  },
  async wait({ lines }) {
    while (last() < lines) await sleep(5)
    return { last: last() }
  },
  async lost() {
    const end = await ended
    text += '\n'
    return end
  },
  async connect() {
    box = await Sandbox.connect(box.sandboxId)
    follow(await box.commands.connect(handle.pid, { onStdout, timeoutMs: 0 }))
    return { pid: handle.pid }
  },
  async end() {
    await box.files.write('/tmp/stop', '')
    const end = await ended
    const count = Number(await box.files.read('/tmp/last'))
    await box.kill()
    return { ...end, last: count, text }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...more } = JSON.parse(line)
  const answer = await orders[name](more).catch((e) => ({ error: e.stack ?? String(e) }))
  process.stdout.write(JSON.stringify(answer) + '\n')
}
process.exit(0)
