// SPDX-License-Identifier: MIT
// Commands: output, status, input, environment, background, kill, time-outs, reconnecting.

import { add, sleep, until } from './harness.mjs'

const area = 'commands'
const RAN_OUT = /deadline_exceeded|timed out/

add(area, 'output', async (t) => {
  const { commands } = await t.shared()
  const hello = await commands.run('echo "Hello, World!"')
  t.equal([hello.exitCode, hello.stdout, hello.stderr], [0, 'Hello, World!\n', ''], 'a line')
  t.equal((await commands.run(`echo '!@#$%^&*()_+'`)).stdout, '!@#$%^&*()_+\n',
    'special characters')
  t.equal((await commands.run('printf "a\\nb\\nc"')).stdout, 'a\nb\nc', 'lines without an end')
  const both = await commands.run('echo out; echo err >&2')
  t.equal([both.stdout, both.stderr], ['out\n', 'err\n'], 'two streams')
  t.equal((await commands.run('echo "日本語 – ünïcödé 🌊"')).stdout, '日本語 – ünïcödé 🌊\n', 'UTF-8')
  t.equal((await commands.run('true')).stdout, '', 'none')
})

add(area, 'callbacks', async (t) => {
  const { commands } = await t.shared()
  const out = [], err = []
  const done = await commands.run('for i in 1 2 3; do echo o$i; echo e$i >&2; sleep 0.05; done', {
    onStdout: (x) => { out.push(x) }, onStderr: (x) => { err.push(x) },
  })
  t.equal(out.join(''), 'o1\no2\no3\n', 'standard output')
  t.equal(err.join(''), 'e1\ne2\ne3\n', 'standard error')
  t.ok(out.length >= 2, 'as it comes')
  t.equal([done.stdout, done.stderr], [out.join(''), err.join('')], 'the result holds both')
})

add(area, 'status', async (t) => {
  const { commands } = await t.shared()
  const three = await t.rejects(commands.run('echo out; echo err >&2; exit 3'), 'CommandExitError',
    /exit status 3/, 'three')
  t.equal([three.exitCode, three.stdout, three.stderr], [3, 'out\n', 'err\n'], 'with its output')
  const missing = await t.rejects(commands.run('no-such-program'), 'CommandExitError',
    /exit status 127/, 'a program that is missing')
  t.match(missing.stderr, /not found/, 'the shell says so')
  const killed = await t.rejects(commands.run('kill -9 $$'), 'CommandExitError', /signal: killed/,
    'a signal')
  t.equal(killed.exitCode, -1, 'has no status')
  const term = await t.rejects(commands.run('kill -TERM $$'), 'CommandExitError',
    /signal: terminated/, 'another signal')
  t.equal(term.exitCode, -1, 'neither')
  await t.rejects(commands.run('exit 255'), 'CommandExitError', /exit status 255/, 'the largest')
})

add(area, 'directories', async (t) => {
  const { commands } = await t.shared()
  const pwd = async (cwd) => (await commands.run('pwd', { cwd })).stdout
  t.equal(await pwd(undefined), '/home/user\n', 'the home without any')
  t.equal(await pwd('/tmp'), '/tmp\n', 'absolute')
  t.equal(await pwd('~'), '/home/user\n', 'a tilde')
  await commands.run('mkdir -p ~/some/where')
  t.equal(await pwd('~/some'), '/home/user/some\n', 'below a tilde')
  t.equal(await pwd('some/where'), '/home/user/some/where\n', 'relative to the home')
  await t.rejects(pwd('/nope'), 'InvalidArgumentError', /cwd '\/nope' does not exist/,
    'a missing one')
})

add(area, 'users', async (t) => {
  const { commands } = await t.shared()
  t.equal((await commands.run('id -un; echo $HOME', { user: 'root' })).stdout, 'root\n/root\n',
    'root')
  t.equal((await commands.run('id -un; pwd', { user: 'user' })).stdout, 'user\n/home/user\n',
    'user')
  await t.rejects(commands.run('true', { user: 'nobody-here' }), 'AuthenticationError',
    /invalid username: 'nobody-here'/, 'an unknown one')
})

add(area, 'the default user', async (t) => {
  const { commands } = await t.shared()
  t.equal((await commands.run('id -un')).stdout, 'user\n', 'without a name')
}, 'defaultUser')

add(area, 'environment', async (t) => {
  const { commands } = await t.shared('envs', { envs: { FOO: 'sandbox', BAR: 'bar' } })
  t.equal((await commands.run('echo $FOO $BAR')).stdout, 'sandbox bar\n', 'of the sandbox')
  t.equal((await commands.run('echo $FOO $BAR', { envs: { FOO: 'command' } })).stdout,
    'command bar\n', 'of the command')
  t.equal((await commands.run('echo $FOO')).stdout, 'sandbox\n', 'only of that command')
  t.equal((await commands.run('echo "$ONLY"')).stdout, '\n', 'nothing is left')
  t.equal((await commands.run(`python3 -c 'import os; print(os.environ["FOO"])'`)).stdout,
    'sandbox\n', 'programs see it')
})

add(area, 'much output', async (t) => {
  const { commands } = await t.shared()
  const size = 8 << 20
  const done = await commands.run(`head -c ${size} /dev/zero | tr '\\0' x`, { timeoutMs: 60_000 })
  t.equal(done.stdout.length, size, 'eight megabytes')
  t.equal(/^x*$/.test(done.stdout), true, 'as written')
  const lines = (await commands.run('seq 1 100000')).stdout.split('\n')
  t.equal([lines.length, lines[99_999]], [100_001, '100000'], 'a hundred thousand lines')
  t.equal(lines.slice(0, -1).every((x, i) => x === String(i + 1)), true, 'in order')
})

add(area, 'output that is not UTF-8', async (t) => {
  const { commands } = await t.shared()
  const odd = await commands.run(`printf 'a\\xff\\xfeb'`)
  t.equal(odd.stdout, 'a\ufffd\ufffdb', 'replaced')
  const cut = await commands.run(`head -c 8191 /dev/zero | tr '\\0' a; printf '\\xe2'`)
  t.equal(cut.stdout, 'a'.repeat(8191) + '\ufffd', 'an end in the middle of a character')
})

add(area, 'characters cut by chunks', async (t) => {
  const { commands } = await t.shared()
  const split = await commands.run(
    `printf '\\xe2'; sleep 0.2; printf '\\x82'; sleep 0.2; printf '\\xac'`)
  t.equal(split.stdout, '€', 'are put together')
}, 'uploads')

add(area, 'background', async (t) => {
  const { commands } = await t.shared()
  const seen = []
  const handle = await commands.run('echo begin; sleep 0.3; echo end', {
    background: true, onStdout: (x) => { seen.push(x) },
  })
  t.ok(handle.pid > 1, 'a pid at once')
  t.equal(handle.exitCode, undefined, 'no status yet')
  const done = await handle.wait()
  t.equal([done.exitCode, done.stdout], [0, 'begin\nend\n'], 'wait')
  t.equal(handle.exitCode, 0, 'the handle knows')
  t.equal(seen.join(''), 'begin\nend\n', 'callbacks')
})

add(area, 'list', async (t) => {
  const { commands } = await t.shared()
  const one = await commands.run('sleep 60',
    { background: true, envs: { MARK: 'one' }, cwd: '/tmp' })
  const two = await commands.run('sleep 61', { background: true })
  const all = await commands.list()
  const found = all.find((p) => p.pid === one.pid)
  t.ok(found && all.some((p) => p.pid === two.pid), 'both are there')
  t.equal([found?.cmd, found?.args], ['/bin/bash', ['-l', '-c', 'sleep 60']], 'what was started')
  t.equal(found?.envs?.MARK, 'one', 'its environment')
  t.equal(found?.cwd, '/tmp', 'its directory')
  await one.kill()
  await two.kill()
  t.equal(await until(async () => !(await commands.list()).some((p) => p.pid === one.pid)), true,
    'a killed one is not')
})

add(area, 'kill', async (t) => {
  const { commands } = await t.shared()
  const handle = await commands.run('sleep 60', { background: true })
  t.equal((await commands.run(`kill -0 ${handle.pid}`)).exitCode, 0, 'it runs')
  t.equal(await commands.kill(handle.pid), true, 'by number')
  await t.rejects(handle.wait(), 'CommandExitError', /signal: killed/, 'wait tells')
  await t.rejects(commands.run(`kill -0 ${handle.pid}`), 'CommandExitError', /exit status 1/,
    'it is gone')
  t.equal(await commands.kill(999999), false, 'of nothing')
  const other = await commands.run('sleep 60', { background: true })
  t.equal(await other.kill(), true, 'by the handle')
  t.equal(await other.kill(), false, 'twice')
  await other.wait().catch(() => {})
})

add(area, 'time-outs', async (t) => {
  const { commands } = await t.shared()
  await t.rejects(commands.run('sleep 20', { timeoutMs: 500 }), 'TimeoutError', RAN_OUT,
    'a long one')
  t.equal((await commands.run('sleep 0.1; echo fast', { timeoutMs: 20_000 })).stdout, 'fast\n',
    'a short one')
  const handle = await commands.run('echo $$ >/tmp/late; sleep 20',
    { background: true, timeoutMs: 700 })
  await t.rejects(handle.wait(), 'TimeoutError', RAN_OUT, 'in the background')
  const dead = async () =>
    (await commands.run(`kill -0 ${handle.pid} 2>/dev/null || echo dead`)).stdout
  t.equal(await until(async () => (await dead()) === 'dead\n'), true, 'it was killed')
  t.equal((await commands.run('sleep 0.2; echo no limit', { timeoutMs: 0 })).stdout, 'no limit\n',
    'none')
})

add(area, 'a time-out kills although nobody listens', async (t) => {
  const { commands } = await t.shared()
  const handle = await commands.run('sleep 30', { background: true, timeoutMs: 1500 })
  await handle.disconnect()
  t.equal((await commands.list()).some((p) => p.pid === handle.pid), true, 'it goes on without us')
  t.equal(await until(async () => !(await commands.list()).some((p) => p.pid === handle.pid)), true,
    'until its time is up')
})

add(area, 'input', async (t) => {
  const { commands } = await t.shared()
  const cat = await commands.run('head -n 2', { background: true, stdin: true })
  await commands.sendStdin(cat.pid, 'first\n')
  await commands.sendStdin(cat.pid, '')
  await commands.sendStdin(cat.pid, 'sécond "quoted" $(no)\n')
  t.equal((await cat.wait()).stdout, 'first\nsécond "quoted" $(no)\n', 'arrives as sent')
  await t.rejects(commands.sendStdin(999999, 'x'), 'SandboxError',
    /process with pid 999999 not found/, 'of nothing')
})

add(area, 'input and its end', async (t) => {
  const { commands } = await t.shared()
  const cat = await commands.run('cat', { background: true, stdin: true })
  await cat.sendStdin('a text\n')
  await cat.sendStdin(new Uint8Array([0x62, 0x79, 0x74, 0x65, 0x73, 0x0a]))
  await cat.closeStdin()
  const done = await cat.wait()
  t.equal([done.exitCode, done.stdout], [0, 'a text\nbytes\n'], 'cat ends at the end')
  const wc = await commands.run('wc -c', { background: true, stdin: true })
  const block = new Uint8Array(1 << 16).fill(0x61)
  for (let i = 0; i < 8; i++) await commands.sendStdin(wc.pid, block)
  await commands.closeStdin(wc.pid)
  t.equal((await wc.wait()).stdout.trim(), String(8 << 16), 'half a megabyte')
  const none = await t.rejects(commands.run('read x', { stdin: false }), 'CommandExitError',
    /exit status 1/, 'no input without asking')
  t.equal(none?.exitCode, 1, 'read fails at once')
  const closed = await commands.run('sleep 30', { background: true, stdin: false })
  await t.rejects(commands.sendStdin(closed.pid, 'x'), 'SandboxError',
    /stdin not enabled or closed/, 'input that nobody asked for')
  await closed.kill()
}, 'stdin')

add(area, 'reconnecting', async (t) => {
  const { commands } = await t.shared()
  const first = await commands.run('while read x; do echo "got $x"; done; exit 7', {
    background: true, stdin: true, timeoutMs: 0,
  })
  await commands.sendStdin(first.pid, 'one\n')
  await until(() => first.stdout === 'got one\n')
  t.equal(first.stdout, 'got one\n', 'the first handle hears')
  await first.disconnect()
  const seen = []
  const second = await commands.connect(first.pid,
    { onStdout: (x) => { seen.push(x) }, timeoutMs: 0 })
  t.equal(second.pid, first.pid, 'the same process')
  await commands.sendStdin(first.pid, 'two\n')
  t.equal(await until(() => seen.join('') === 'got two\n'), true, 'the second hears what is new')
  const third = await commands.connect(first.pid, { timeoutMs: 0 })
  await commands.sendStdin(first.pid, 'three\n')
  t.equal(await until(() => third.stdout === 'got three\n'), true, 'so does a third')
  t.equal(await until(() => seen.join('') === 'got two\ngot three\n'), true, 'at the same time')
  await commands.kill(first.pid)
  await t.rejects(second.wait(), 'CommandExitError', /signal: killed/, 'both hear of the end')
  await t.rejects(third.wait(), 'CommandExitError', /signal: killed/, 'both')
  await t.rejects(commands.connect(999999), 'SandboxError', /process with pid 999999 not found/,
    'to nothing')
})

add(area, 'the end of one that ended', async (t) => {
  const { commands } = await t.shared()
  const handle = await commands.run('sleep 0.2; exit 5', { background: true })
  await handle.disconnect()
  await sleep(600)
  const e = await t.rejects((async () => (await commands.connect(handle.pid)).wait())(),
    'CommandExitError', /exit status 5/, 'is told for a while')
  t.equal(e?.exitCode, 5, 'with its status')
})

add(area, 'many at once', async (t) => {
  const { commands } = await t.shared()
  const outs = await Promise.all(Array.from({ length: 20 }, (_, i) =>
    commands.run(`sleep 0.$((RANDOM % 3)); echo ${i}`)))
  t.equal(outs.map((o) => o.stdout), Array.from({ length: 20 }, (_, i) => `${i}\n`),
    'each has its own')
})

add(area, 'a sandbox killed under a command', async (t) => {
  const box = await t.create()
  const handle = await box.commands.run('sleep 60', { background: true, timeoutMs: 0 })
  const ended = t.rejects(handle.wait(), 'TimeoutError',
    /unavailable. the sandbox was killed/, 'wait says so')
  await box.kill()
  await ended
}, 'errors')

add(area, 'a sandbox killed under a command of an old client', async (t) => {
  const box = await t.create()
  const handle = await box.commands.run('sleep 60', { background: true, timeoutMs: 0 })
  const ended = handle.wait().then(() => null, (e) => e)
  await box.kill()
  t.ok((await ended) instanceof Error, 'wait fails')
})

add(area, 'a sandbox that ends under a command', async (t) => {
  const box = await t.create({ timeoutMs: 1500 })
  await t.rejects(box.commands.run('sleep 60', { timeoutMs: 0 }), 'SandboxError', /./, 'run fails')
})

add(area, 'grandchildren', async (t) => {
  const { commands } = await t.shared()
  const done = await commands.run('(sleep 0.4; echo late) & echo early')
  t.equal(done.stdout, 'early\nlate\n', 'that hold the output are waited for')
  const free = await commands.run('setsid sleep 45 >/dev/null 2>&1 & echo done')
  t.equal(free.stdout, 'done\n', 'others are not')
})

add(area, 'languages', async (t) => {
  const { commands } = await t.shared()
  t.equal((await commands.run(`python3 -c 'print(sum(range(101)))'`)).stdout, '5050\n', 'python3')
  t.equal((await commands.run('cat <<"END"\n$HOME `no`\nEND')).stdout, '$HOME `no`\n',
    'here documents')
})
