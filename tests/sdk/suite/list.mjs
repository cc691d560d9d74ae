// SPDX-License-Identifier: MIT
// Lists: filters, nasty metadata, order, pages.

import { randomUUID } from 'node:crypto'
import { add, ownMetadata } from './harness.mjs'

const area = 'list'
const NASTY = [
  { 'k ey': 'v&l=1', b: 'c' },
  { 'k ey': 'v&l=1', b: 'd' },
  { 'k+ey': 'a+b c%20d%2520e' },
  { 'ключ': '値=&?#/\\"\'', empty: '' },
  { 'a=b': '100%', 'x&y': ' spaces ' },
]

let made = null

// Five sandboxes of one run, oldest first.
function five(t) {
  made ??= (async () => {
    const run = randomUUID()
    const boxes = []
    for (const metadata of NASTY) {
      boxes.push(await t.Sandbox.create({ metadata: { ...metadata, run }, timeoutMs: 600_000 }))
    }
    return { run, ids: boxes.map((b) => b.sandboxId) }
  })()
  return made
}

const sorted = (list) => [...list].sort()

async function all(t, query, more = {}) {
  const pages = t.Sandbox.list({ query, ...more })
  if (Array.isArray(pages) || pages.then) return (await pages).map((x) => x.sandboxId)
  const ids = []
  while (pages.hasNext) ids.push(...(await pages.nextItems()).map((x) => x.sandboxId))
  return ids
}

add(area, 'metadata', async (t) => {
  const { run, ids } = await five(t)
  t.equal(sorted(await all(t, { metadata: { run } })), sorted(ids), 'all of the run')
  for (const [i, metadata] of NASTY.entries()) {
    const want = i < 1 ? [ids[0]] : [ids[i]]
    t.equal(await all(t, { metadata: { ...metadata, run } }), want, JSON.stringify(metadata))
  }
  t.equal(sorted(await all(t, { metadata: { 'k ey': 'v&l=1', run } })), sorted(ids.slice(0, 2)),
    'one key of two')
  t.equal(await all(t, { metadata: { run, b: 'nothing' } }), [], 'all pairs must fit')
  t.equal(await all(t, { metadata: { run: run.toUpperCase() } }), [], 'case counts')
})

add(area, 'what an entry tells', async (t) => {
  const { run, ids } = await five(t)
  const found = await t.Sandbox.list({ query: { metadata: { run, b: 'd' } } })
  const [entry] = Array.isArray(found) ? found : await found.nextItems()
  t.equal(entry.sandboxId, ids[1], 'id')
  t.equal(ownMetadata(entry), { ...NASTY[1], run }, 'metadata')
  t.ok(entry.templateId, 'template')
  t.ok(entry.startedAt instanceof Date && entry.endAt > entry.startedAt, 'times')
})

add(area, 'order', async (t) => {
  const { run, ids } = await five(t)
  t.equal(await all(t, { metadata: { run } }), [...ids].reverse(), 'newest first')
  t.equal(await all(t, { metadata: { run } }, { order: 'asc' }), ids, 'oldest first')
  t.equal(await all(t, { metadata: { run } }, { order: 'desc' }), [...ids].reverse(),
    'as asked for')
}, 'paging')

add(area, 'pages', async (t) => {
  const { run, ids } = await five(t)
  for (const order of ['asc', 'desc']) {
    const want = order === 'asc' ? ids : [...ids].reverse()
    const pages = t.Sandbox.list({ query: { metadata: { run } }, limit: 2, order })
    const sizes = [], got = []
    while (pages.hasNext) {
      const items = await pages.nextItems()
      sizes.push(items.length)
      got.push(...items.map((x) => x.sandboxId))
    }
    t.equal(sizes, [2, 2, 1], `${order}: sizes of the pages`)
    t.equal(got, want, `${order}: every one once`)
  }
  const first = t.Sandbox.list({ query: { metadata: { run } }, limit: 3 })
  const head = await first.nextItems()
  const rest = t.Sandbox.list({ query: { metadata: { run } }, limit: 3,
    nextToken: first.nextToken })
  const tail = await rest.nextItems()
  t.equal([...head, ...tail].map((x) => x.sandboxId), [...ids].reverse(), 'a token goes on')
  t.equal(rest.hasNext, false, 'then there are no more')
  await t.rejects(t.Sandbox.list({ nextToken: 'nonsense' }).nextItems(), 'SandboxError',
    /Invalid next token/, 'a token that is none')
}, 'paging')

add(area, 'other filters', async (t) => {
  const { run, ids } = await five(t)
  const metadata = { run }
  t.equal((await all(t, { metadata, state: ['running'] })).length, 5, 'running')
  t.equal(await all(t, { metadata, state: ['paused'] }), [], 'paused')
  t.equal((await all(t, { metadata, state: ['running', 'paused'] })).length, 5, 'both')
  t.equal((await all(t, { metadata, template: 'base' })).length, 5, 'the template')
  t.equal(await all(t, { metadata, template: 'nope' }), [], 'another template')
  const { startedAt } = await t.Sandbox.getInfo(ids[3])
  t.equal((await all(t, { metadata, startedAfter: startedAt }, { order: 'asc' })).slice(-1),
    [ids[4]], 'started after')
  t.equal(await all(t, { metadata, startedAfter: new Date(Date.now() + 3600_000) }), [],
    'started in the future')
}, 'paging')

add(area, 'requests that no client makes', async (t) => {
  await five(t)
  const one = await t.api('GET', '/v2/sandboxes?limit=1')
  t.equal(one.json.length, 1, 'one entry')
  t.ok(one.headers.get('x-next-token'), 'a token for the next page')
  t.ok(Number(one.headers.get('x-total-running')) >= 5, 'how many run')
  for (const name of ['sandboxID', 'templateID', 'clientID', 'cpuCount', 'memoryMB', 'diskSizeMB',
    'startedAt', 'endAt', 'state', 'envdVersion']) {
    t.ok(name in one.json[0], name)
  }
  t.equal((await t.api('GET', '/v2/sandboxes?limit=0')).status, 400, 'a limit too small')
  t.equal((await t.api('GET', '/v2/sandboxes?limit=101')).status, 400, 'a limit too large')
  t.equal((await t.api('GET', '/v2/sandboxes?metadata=novalue')).status, 400,
    'metadata without value')
  t.equal((await t.api('GET', '/v2/sandboxes?state=asleep')).status, 400, 'an unknown state')
  t.equal((await t.api('GET', '/sandboxes')).status, 200, 'the old list')
})
