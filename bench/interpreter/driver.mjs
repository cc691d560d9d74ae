// SPDX-License-Identifier: MIT
// Times of npm's code interpreter client: node driver.mjs ROUNDS REPEATS; prints JSON, in ms.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { Sandbox } = await import(pathToFileURL(
  join(process.env.E2B_MODULES, '@e2b', 'code-interpreter', 'dist', 'index.mjs')))
const [rounds, repeats] = process.argv.slice(2).map(Number)
const times = { cold: [], create: [], first: [], repeated: [] }
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function timed(list, fn) {
  const began = performance.now()
  const value = await fn()
  list.push(performance.now() - began)
  return value
}

// The first one finds no sandbox that waits.
const cold = await Sandbox.create()
await timed(times.cold, () => cold.runCode('1 + 1'))
await cold.kill()
for (let i = 0; i < rounds; i++) {
  await sleep(Number(process.env.PAUSE_MS ?? 4000)) // until the pool is full again
  const box = await timed(times.create, () => Sandbox.create())
  const got = await timed(times.first, () => box.runCode('1 + 1'))
  if (got.text !== '2') throw new Error(`got ${got.text}`)
  for (let k = 0; k < repeats; k++) await timed(times.repeated, () => box.runCode('1 + 1'))
  await box.kill()
}
console.log(JSON.stringify(times))
