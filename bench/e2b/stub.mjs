// SPDX-License-Identifier: MIT
// What a client waits for anyway: a server that answers every create, command and kill at once,
// with nothing behind it. Prints its port.

import { createServer } from 'node:http'

const BOX = JSON.stringify({
  sandboxID: 'stub', templateID: 'base', clientID: 'stub', envdVersion: '0.6.4',
    envdAccessToken: 'stub',
})

function envelope(flags, message) {
  const text = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(text.length, 1)
  return Buffer.concat([head, text])
}

const START = envelope(0, { event: { start: { pid: 42 } } })
const END = Buffer.concat([
  envelope(0, { event: { end: { exited: true, status: 'exit status 0' } } }), envelope(2, {}),
])

function answer(req, res) {
  if (req.url.endsWith('/Start')) {
    res.writeHead(200, { 'Content-Type': 'application/connect+json' })
    res.write(START)
    res.end(END)
  } else if (req.method === 'POST' && req.url.endsWith('/sandboxes')) {
    res.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': BOX.length })
    res.end(BOX)
  } else {
    res.writeHead(204).end()
  }
}

const server = createServer((req, res) => {
  req.resume().on('end', () => answer(req, res))
})
server.listen(0, '127.0.0.1', 4096, () => console.log(server.address().port))
