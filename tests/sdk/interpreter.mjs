// SPDX-License-Identifier: MIT
// npm's code interpreter client of E2B, unchanged: node interpreter.mjs
// E2B_MODULES are its node_modules; prints what it saw as JSON.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { Sandbox } = await import(pathToFileURL(
  join(process.env.E2B_MODULES, '@e2b', 'code-interpreter', 'dist', 'index.mjs')))
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const seen = {}
const box = await Sandbox.create({ envs: { FOO: 'sandbox', BOTH: 'sandbox' }, timeoutMs: 600_000 })
const run = (code, opts) => box.runCode(code, opts)
const text = async (code, opts) => (await run(code, opts)).text
const out = async (code, opts) => (await run(code, opts)).logs.stdout.join('')
const failure = async (fn) => {
  try {
    await fn()
  } catch (e) {
    return [e.constructor.name, e.message]
  }
  return null
}

async function basics() {
  seen.first = await text('x = 1; x')
  seen.kept = await text('    x += 1\n    x')
  seen.count = (await run('x')).executionCount
  seen.shell = await out('!pwd; id -un')
  seen.string = await text("'héé ✓'")
  seen.home = await text('import os; os.getcwd()')
  const error = (await run('print("before")\n1/0')).error
  seen.error = [error.name, error.value, error.traceback.includes('1/0')]
  seen.syntax = (await run('def f(:')).error.name
  seen.exit = [(await run('x = 5; exit()')).error ?? null, (await run('x')).error?.name]
}

async function streaming() {
  const got = []
  const note = (kind) => (x) => got.push([kind, x.line ?? x.text, Date.now()])
  await run('import time, sys\nprint(1)\ntime.sleep(1)\nprint("e", file=sys.stderr)\n2',
    { onStdout: note('out'), onStderr: note('err'), onResult: note('result') })
  seen.stream = got.map(([kind, line]) => [kind, line])
  seen.isStreamed = got[1][2] - got[0][2] > 300
  await run('nope', { onError: (e) => { seen.errorCallback = e.name } })
  seen.large = (await out('print("ü" * 1000000)')).length
}

async function rich() {
  const frame = (await run(`
import pandas as pd
pd.DataFrame({'a': [1, 2], 'when': pd.to_datetime(['2024-01-01', '2024-02-03']), 'f': [1.5, None]})
`)).results[0]
  seen.frame = [frame.data, frame.html.includes('<table'), frame.text.includes('2024')]
  const plot = await run(`
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [4, 5, 6], label='up')
plt.xlabel('Time (s)')
plt.ylabel('Height [m]')
plt.title('Rise')
plt.show()
'value'`)
  seen.plot = plot.results.map((r) => [r.isMainResult, r.formats(), !!r.chart, r.text])
  seen.png = Buffer.from(plot.results[0].png, 'base64').subarray(1, 4).toString()
  seen.line = plot.results[0].chart.toJSON?.() ?? { ...plot.results[0].chart }
  const chart = async (code) => (await run(`${code}\nplt.show()`)).results.at(-1).chart
  seen.bar = (await chart(`plt.bar(['a', 'b'], [3, 5]); plt.ylabel('n')`)).elements
  seen.barh = (await chart(`plt.barh(['a', 'b'], [3, 5])`)).elements
  seen.scatter = (await chart(`plt.scatter([1, 2], [3, 4], label='s')`)).elements
  seen.pie = (await chart(`plt.pie([1, 3], labels=['x', 'y'])`)).elements
  seen.box = (await chart(`plt.boxplot([[1, 2, 3, 4, 30], [2, 3, 4]], labels=['p', 'q'])`)).elements
  const twice = await chart(`f, (a, b) = plt.subplots(1, 2); f.suptitle('Two')
a.plot([1, 2]); b.bar(['k'], [1])`)
  seen.super = [twice.type, twice.title, twice.elements.map((x) => x.type)]
  seen.log = (await chart(`plt.plot([1, 2], [1, 1000]); plt.yscale('log')`)).y_scale
  seen.dates = (await chart(`import datetime
plt.plot([datetime.date(2024, 1, 1), datetime.date(2024, 1, 3)], [1, 2])`)).elements[0].points[0]
  seen.unknown = (await chart(`plt.imshow([[1, 2], [3, 4]])`)).type
  const kinds = await run(`
from IPython.display import HTML, Markdown, SVG, Latex, JSON, Javascript
for x in (HTML('<b>h</b>'), Markdown('# m'), SVG('<svg/>'), Latex('$l$'), JSON({'j': 1}),
          Javascript('alert(1)')):
    display(x)
display({'text/latex': 'raw', 'x/own': 'mine'}, raw=True)
{'d': [1]}`)
  seen.kinds = kinds.results.map((r) => r.formats().filter((x) => x !== 'text'))
  seen.extra = kinds.results[6].extra
  seen.json = kinds.results.at(-1).json
  const image = await run(`from PIL import Image
Image.new('RGB', (2, 2)).show()
Image.new('RGB', (2, 2)).save('/tmp/x.png')`)
  seen.images = image.results.map((r) => r.formats().includes('png'))
}

async function languages() {
  const js = { language: 'js' }
  seen.js = [await text('const a = 20; a + 1', js), await text('a', js),
    await text('await Promise.resolve("later")', js), await text('process.cwd()', js),
    await text(`import { basename } from 'node:path'\nbasename('/x/y')`, js)]
  seen.jsLog = (await run('console.log("Hello World!")', js)).logs.stdout
  const jsError = (await run('throw new TypeError("bad")', js)).error
  seen.jsError = [jsError.name, jsError.value]
  const ts = await run('const n: number = 4; interface P { q: string }; n * 2', { language: 'ts' })
  seen.ts = ts.text ?? ts.error.value
  seen.bash = [await out('declare y=7; cd /tmp; echo "hi $USER"', { language: 'bash' }),
    await out('echo $y; pwd', { language: 'bash' }),
    (await run('false', { language: 'bash' })).error.value]
  const r = await run('x <- c(1, 2); sum(x)', { language: 'r' })
  seen.r = r.text ?? r.error.value
  const java = await run('int k = 6; k * 7', { language: 'java' })
  seen.java = java.text ?? java.error.value
  seen.unknownLanguage = await failure(() => run('1', { language: 'cobol' }))
}

async function contexts() {
  seen.list = (await box.listCodeContexts()).map((c) => [c.language, c.cwd]).slice(0, 2)
  await box.files.makeDir('/home/user/work')
  const one = await box.createCodeContext({ cwd: '/home/user/work' })
  const two = await box.createCodeContext({ language: 'javascript', cwd: '/home/user/work' })
  const shell = await box.createCodeContext({ language: 'bash', cwd: '/home/user/work' })
  seen.newest = (await box.listCodeContexts()).at(-1).id === shell.id
  seen.cwd = [one.cwd, await text('import os; os.getcwd()', { context: one }),
    await text('process.cwd()', { context: two }), await out('pwd', { context: shell })]
  await run('only = 1', { context: one })
  seen.apart = (await run('only')).error.value
  const began = Date.now()
  await Promise.all([run('import time; time.sleep(2)', { context: one }),
    run('import time; time.sleep(2)'), run('sleep 2', { context: shell })])
  seen.isParallel = Date.now() - began < 5000
  await box.restartCodeContext(one)
  seen.restarted = (await run('only', { context: one })).error.name
  seen.cwdAfter = await text('import os; os.getcwd()', { context: one })
  await box.removeCodeContext(two)
  seen.removed = await failure(() => run('1', { context: two }))
  seen.badCwd = await failure(() => box.createCodeContext({ cwd: '/nope' }))
}

async function variables() {
  const read = { python: `import os; [os.environ.get(k) for k in ('FOO', 'BOTH', 'OWN')]`,
    javascript: `[process.env.FOO, process.env.BOTH, process.env.OWN].join()` }
  for (const [language, code] of Object.entries(read)) {
    seen[`env_${language}`] = [await text(code, { language, envs: { OWN: "it's", BOTH: 'call' } }),
      await text(code, { language })]
  }
  const code = 'echo "$FOO,$BOTH,$OWN"'
  seen.env_bash = [await out(code, { language: 'bash', envs: { OWN: "it's", BOTH: 'call' } }),
    await out(code, { language: 'bash' })]
}

async function interrupts() {
  await run('held = 3')
  seen.timeout = await failure(() => run('import time\nwhile True: time.sleep(0.1)',
    { timeoutMs: 1000 }))
  seen.afterTimeout = await text('held + 1')
  await failure(() => run('while (true) {}', { language: 'js', timeoutMs: 1000 }))
  seen.afterJs = await text('a', { language: 'js' })
  await failure(() => run('await new Promise(() => {})', { language: 'js', timeoutMs: 1000 }))
  seen.afterAwait = await text('a + 1', { language: 'js' })
  await failure(() => run('while true; do sleep 1; done', { language: 'bash', timeoutMs: 1000 }))
  seen.afterBash = await out('echo $y', { language: 'bash' })
  seen.died = (await run('import os; os.kill(os.getpid(), 9)')).error.name
  seen.afterDeath = await text('1 + 1')
}

async function ends() {
  const dying = box.runCode('import time; time.sleep(60)')
  dying.catch(() => {})
  await sleep(500)
  await box.kill()
  seen.killed = await failure(() => dying)
}

for (const part of [basics, streaming, rich, languages, contexts, variables, interrupts, ends])
  await part()
// One that waited for somebody: it has the environment of who got it.
const again = await Sandbox.create({ envs: { FOO: 'second' }, timeoutMs: 60_000 })
seen.second = [(await again.runCode('import os; os.environ["FOO"]')).text,
  (await again.runCode('x')).error?.name]
await again.kill()
console.log(JSON.stringify(seen))
