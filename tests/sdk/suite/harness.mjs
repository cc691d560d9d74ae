// SPDX-License-Identifier: MIT
// Cases, assertions and their TAP. A case belongs to an area and has a title; every assertion in it
// is a line of TAP. Cases run side by side, their lines are printed in the order of definition.
//
//     add('files', 'a missing file', async (t) => {
//       await t.rejects((await t.shared()).files.read('nope'), 'NotFoundError', /does not exist/)
//     })
//
// A case names the features it needs (features.mjs); where the client lacks one, it is left out.

import { isDeepStrictEqual, inspect } from 'node:util'
import { lacks } from './features.mjs'

const CASE_MS = 90_000
const AT_ONCE = Number(process.env.SDK_AT_ONCE || 6)
const cases = []
const shared = new Map()

export const env = {
  version: process.env.SDK_VERSION,
  api: process.env.SDK_API_URL,
  gateway: process.env.SDK_SANDBOX_URL,
  key: process.env.E2B_API_KEY,
}

let sdk = null

export function add(area, title, run, ...needs) {
  cases.push({ area, title, run, needs, lines: [] })
}

// The service adds the name that its own interface knows a sandbox by.
export function ownMetadata({ metadata: { name, ...own } }) {
  return own
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

// Asks until the answer is truthy; the last answer.
export async function until(what, seconds = 30) {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const got = await what()
    if (got || Date.now() > end) return got
    await sleep(50)
  }
}

function show(value) {
  const text = inspect(value, { depth: 6, breakLength: Infinity, maxStringLength: 300 })
  return text.length > 600 ? text.slice(0, 600) + '…' : text
}

class Case {
  constructor(entry) {
    this.entry = entry
    this.sdk = sdk
    this.Sandbox = sdk.Sandbox
    this.own = []
  }

  record(isOk, what, detail) {
    this.entry.lines.push({ isOk, what, detail })
    return isOk
  }

  ok(value, what) {
    return this.record(Boolean(value), what, `got ${show(value)}`)
  }

  equal(got, want, what) {
    return this.record(isDeepStrictEqual(got, want), what, `got ${show(got)}, want ${show(want)}`)
  }

  match(text, pattern, what) {
    return this.record(pattern.test(text), what, `${show(text)} does not match ${pattern}`)
  }

  // The promise fails with an error of the class, or one derived from it, and the text.
  async rejects(promise, className, pattern, what) {
    try {
      const value = await promise
      this.record(false, what, `resolved with ${show(value)}`)
    } catch (e) {
      const isClass = e instanceof (sdk[className] ?? (className === 'Error' ? Error : Function))
      this.record(isClass && pattern.test(e.message), what,
        `${e.constructor.name}: ${e.message}; want ${className} ${pattern}`)
      return e
    }
  }

  // A sandbox that all cases of the area use.
  shared(name = 'default', options = {}) {
    const key = `${this.entry.area}/${name}`
    if (!shared.has(key)) shared.set(key, this.Sandbox.create({ timeoutMs: 600_000, ...options }))
    return shared.get(key)
  }

  // A sandbox of this case alone.
  async create(...args) {
    const box = await this.Sandbox.create(...args)
    this.own.push(box.sandboxId)
    return box
  }

  // A request to the control plane past the client.
  async api(method, path, body, headers = {}) {
    const answer = await fetch(env.api + path, {
      method,
      headers: { 'X-API-Key': env.key, 'Content-Type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    return read(answer)
  }

  // A request to a port of a sandbox past the client.
  async port(box, port, path, { method = 'GET', headers = {}, body } = {}) {
    const route = { 'E2b-Sandbox-Id': box.sandboxId ?? box, 'E2b-Sandbox-Port': String(port) }
    return read(await fetch(env.gateway + path,
      { method, headers: { ...route, ...headers }, body }))
  }

  async done() {
    await Promise.all(this.own.map((id) => this.Sandbox.kill(id).catch(() => {})))
  }
}

async function read(answer) {
  const text = await answer.text()
  let json
  try {
    json = JSON.parse(text)
  } catch { /* not all are JSON */ }
  return { status: answer.status, headers: answer.headers, text, json }
}

// The error, and where our own code was.
function trace(e) {
  const own = (e.stack ?? '').split('\n').filter((x) =>
    x.includes('/suite/') && !x.includes('harness'))
  return [String(e), ...own].join('\n')
}

async function runCase(entry) {
  const t = new Case(entry)
  let timer
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`not done after ${CASE_MS / 1000} s`)), CASE_MS)
  })
  const begin = Date.now()
  try {
    await Promise.race([entry.run(t), late])
  } catch (e) {
    t.record(false, 'runs to its end', trace(e))
  }
  clearTimeout(timer)
  entry.ms = Date.now() - begin
  if (entry.lines.length === 0) t.record(false, 'asserts something', '')
  await t.done()
}

function print(entries) {
  let number = 0
  for (const entry of entries) {
    for (const line of entry.lines) {
      number++
      const title = `${entry.area}: ${entry.title}: ${line.what}`.replaceAll('#', '♯')
      console.log(`${line.isOk ? 'ok' : 'not ok'} ${number} - ${title}`)
      if (!line.isOk) console.log(line.detail.replace(/^/gm, '# '))
    }
  }
  console.log(`1..${number}`)
}

// What docs/COMPAT.md tells: assertions of each area, and what was left out.
function summary(chosen, leftOut) {
  const areas = {}
  for (const entry of chosen) {
    const area = (areas[entry.area] ??= { cases: 0, assertions: 0, failed: 0 })
    area.cases++
    area.assertions += entry.lines.length
    area.failed += entry.lines.filter((x) => !x.isOk).length
  }
  return { areas, leftOut: [...leftOut].map(([feature, why]) => ({ feature, why })).sort(
    (a, b) => a.feature.localeCompare(b.feature)) }
}

// Runs all cases whose "area: title" holds the text; the result for the matrix.
export async function run(client, only = '') {
  sdk = client
  const leftOut = new Map()
  const chosen = cases.filter((entry) => {
    const missing = lacks(env.version, entry.needs)
    for (const { feature, why } of missing) leftOut.set(feature, why)
    return missing.length === 0 && `${entry.area}: ${entry.title}`.includes(only)
  })
  const queue = [...chosen]
  const worker = async () => {
    while (queue.length > 0) await runCase(queue.shift())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await Promise.all([...shared.values()].map((box) => box.then((b) => b.kill()).catch(() => {})))
  print(chosen)
  if (process.env.SDK_TIMES) {
    for (const e of [...chosen].sort((a, b) => b.ms - a.ms).slice(0, 15)) {
      console.log(`# ${e.ms} ms ${e.area}: ${e.title}`)
    }
  }
  return summary(chosen, leftOut)
}
