// SPDX-License-Identifier: MIT
// Terminals.

import { add, until } from './harness.mjs'

const area = 'pty'
const bytes = (text) => new TextEncoder().encode(text)

// A terminal and what it has shown.
async function terminal(t, options = {}) {
  const { pty, commands } = await t.shared()
  const screen = { text: '' }
  const decoder = new TextDecoder()
  const onData = (data) => { screen.text += decoder.decode(data, { stream: true }) }
  const handle = await pty.create({ cols: 80, rows: 24, timeoutMs: 60_000, onData, ...options })
  return { pty, commands, handle, screen }
}

const shows = (screen, pattern) => until(() => pattern.test(screen.text), 20)

add(area, 'a shell', async (t) => {
  const { pty, handle, screen } = await terminal(t, { envs: { ABC: '123' }, cwd: '/tmp' })
  t.ok(handle.pid > 1, 'has a pid')
  await pty.sendInput(handle.pid, bytes('echo "<$ABC>" $TERM $(pwd) $(tty | cut -c1-9)\n'))
  t.equal(await shows(screen, /<123> xterm-256color \/tmp \/dev\/pts\//), true,
    'runs what is typed')
  await pty.sendInput(handle.pid, bytes('exit 0\n'))
  t.equal((await handle.wait()).exitCode, 0, 'ends')
})

add(area, 'a status', async (t) => {
  const { pty, handle } = await terminal(t)
  await pty.sendInput(handle.pid, bytes('exit 4\n'))
  await t.rejects(handle.wait(), 'CommandExitError', /exit status 4/, 'is told')
})

add(area, 'sizes', async (t) => {
  const { pty, handle, screen } = await terminal(t)
  await pty.sendInput(handle.pid, bytes('echo "cols=$(tput cols)"\n'))
  t.equal(await shows(screen, /cols=80/), true, 'at first')
  await pty.resize(handle.pid, { cols: 100, rows: 30 })
  await pty.sendInput(handle.pid, bytes('echo "size=$(stty size)"\n'))
  t.equal(await shows(screen, /size=30 100/), true, 'after a resize')
  await pty.kill(handle.pid)
  await handle.wait().catch(() => {})
})

add(area, 'keys', async (t) => {
  const { pty, handle, screen } = await terminal(t)
  await shows(screen, /\$ $/)
  await pty.sendInput(handle.pid, bytes('echo fall""ing asleep; sleep 100\n'))
  await shows(screen, /falling asleep\r\n/)
  await pty.sendInput(handle.pid, bytes('\u0003'))
  await shows(screen, /\^C\r\n[^\r\n]*\$ $/)
  await pty.sendInput(handle.pid, bytes('echo "status=$?"\n'))
  t.equal(await shows(screen, /status=130/), true, 'Ctrl+C interrupts')
  await pty.sendInput(handle.pid, bytes('\u0004'))
  await handle.wait().catch(() => {})
  t.ok(handle.exitCode !== undefined, 'Ctrl+D ends')
})

add(area, 'kill', async (t) => {
  const { pty, commands, handle } = await terminal(t)
  t.equal(await pty.kill(handle.pid), true, 'by number')
  await handle.wait().catch(() => {})
  await t.rejects(commands.run(`kill -0 ${handle.pid}`), 'CommandExitError', /exit status 1/,
    'it is gone')
  t.equal(await pty.kill(999999), false, 'of nothing')
})

add(area, 'users', async (t) => {
  const { pty, handle, screen } = await terminal(t, { user: 'root' })
  await pty.sendInput(handle.pid, bytes('echo "me=$(id -un)"; exit\n'))
  t.equal((await handle.wait()).exitCode, 0, 'ends')
  t.match(screen.text, /me=root/, 'root')
})

add(area, 'reconnecting', async (t) => {
  const { pty, handle, screen } = await terminal(t, { envs: { FOO: 'bar' }, timeoutMs: 0 })
  await pty.sendInput(handle.pid, bytes('echo one-$FOO\n'))
  t.equal(await shows(screen, /one-bar/), true, 'the first sees it')
  await handle.disconnect()
  let text = ''
  const again = await pty.connect(handle.pid,
    { onData: (data) => { text += new TextDecoder().decode(data) } })
  t.equal(again.pid, handle.pid, 'the same shell')
  await pty.sendInput(handle.pid, bytes('echo two-$FOO; exit\n'))
  t.equal((await again.wait()).exitCode, 0, 'ends')
  t.match(text, /two-bar/, 'the second sees it')
}, 'ptyConnect')

add(area, 'much output', async (t) => {
  const { pty, handle, screen } = await terminal(t)
  await pty.sendInput(handle.pid, bytes('seq 1 20000; echo fin""ished; exit\n'))
  t.equal((await handle.wait()).exitCode, 0, 'ends')
  t.match(screen.text, /\r\n19999\r\n20000\r\nfinished/, 'complete')
})

add(area, 'what a terminal is not', async (t) => {
  const { pty, commands, handle } = await terminal(t)
  await t.rejects(commands.sendStdin(handle.pid, 'x'), 'SandboxError', /tty assigned to process/,
    'has no standard input')
  const sleeping = await commands.run('sleep 30', { background: true })
  await t.rejects(pty.sendInput(sleeping.pid, bytes('x')), 'SandboxError', /tty not assigned/,
    'and a command no tty')
  await t.rejects(pty.resize(sleeping.pid, { cols: 1, rows: 1 }), 'SandboxError',
    /tty not assigned/, 'nor a size')
  await sleeping.kill()
  await pty.kill(handle.pid)
  await Promise.allSettled([sleeping.wait(), handle.wait()])
})
