// SPDX-License-Identifier: MIT
// The same through E2B_DOMAIN: TLS, api.{domain}, and a host name for every port of a sandbox.

import { add, env, until } from './harness.mjs'

const area = 'hosts'
const domain = process.env.SDK_DOMAIN

add(area, 'a sandbox by its name', async (t) => {
  const box = await t.create()
  t.equal(box.getHost(3000), `3000-${box.sandboxId}.${domain}`, 'the host of a port')
  t.equal(await box.isRunning(), true, 'it runs')
  t.equal((await box.commands.run('echo over TLS')).stdout, 'over TLS\n', 'commands')
  await box.files.write('tls.txt', 'x'.repeat(100_000))
  t.equal((await box.files.read('tls.txt')).length, 100_000, 'files')
  const url = await box.downloadUrl('tls.txt')
  t.equal(new URL(url).host, `49983-${box.sandboxId}.${domain}`, 'addresses of files')
  t.equal((await (await fetch(url)).text()).length, 100_000, 'that work')
})

add(area, 'a service by its name', async (t) => {
  const box = await t.create()
  await box.files.write('www/index.html', '<h1>hello</h1>')
  await box.commands.run('cd www && exec python3 -m http.server 8000',
    { background: true, timeoutMs: 0 })
  const url = `https://${box.getHost(8000)}/index.html`
  const page = await until(async () => {
    const answer = await fetch(url)
    return answer.status === 200 && answer
  })
  t.equal(page && await page.text(), '<h1>hello</h1>', 'is reached')
  const closed = await fetch(`https://${box.getHost(8001)}/`)
  t.equal([closed.status, (await closed.json()).port], [502, 8001], 'a closed port')
  await t.Sandbox.kill(box.sandboxId)
  const gone = await fetch(url)
  t.equal([gone.status, await gone.json()],
    [502, { sandboxId: box.sandboxId, message: 'The sandbox was not found', code: 502 }],
      'after its end')
})

add(area, 'the control plane by its name', async (t) => {
  const answer = await fetch(`https://api.${domain}/v2/sandboxes`,
    { headers: { 'X-API-Key': env.key } })
  t.equal(answer.status, 200, 'at the root')
  t.ok(Array.isArray(await answer.json()), 'a list')
  const none = await fetch(`https://49983-i0000000000.${domain}/health`)
  t.equal(none.status, 502, 'a sandbox that does not exist')
})
