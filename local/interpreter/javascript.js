// SPDX-License-Identifier: MIT
// The JavaScript and TypeScript driver of the code interpreter: see interpreter/frame.h for what it
// reads from descriptor 3, interpreter/kernel.h for what it writes to descriptor 4.
//
// Code runs as in Node's own REPL, which keeps declarations from one execution to the next and
// allows `await` everywhere. Static imports become dynamic ones.
'use strict'
const fs = require('fs')
const net = require('net')
const util = require('util')
const vm = require('vm')
const { PassThrough } = require('stream')

let running = null // finishes what is awaited

// A loop can be interrupted. The REPL's own option for it leaves a process that the next signal
// ends. The REPL takes this function when it is loaded.
const runScript = vm.Script.prototype.runInThisContext
vm.Script.prototype.runInThisContext = function (options) {
  return runScript.call(this, running ? { ...options, breakOnSigint: true } : options)
}

const repl = require('repl')

const IS_TYPESCRIPT = process.argv.includes('typescript')
const MAX_MESSAGE = 32 << 20

function send(message) {
  let data = Buffer.from(JSON.stringify(message) + '\n')
  if (data.length > MAX_MESSAGE)
    data = Buffer.from(JSON.stringify({ type: 'error', name: 'ResultTooLarge', traceback: '',
      value: `the result has ${data.length} bytes; at most ${MAX_MESSAGE} can be shown` }) + '\n')
  for (let n = 0; n < data.length;) n += fs.writeSync(4, data, n)
}

// ---- results ----

// As notebooks for JavaScript do: a method for each kind of content.
const METHODS = {
  _toHtml: 'text/html', _toSvg: 'image/svg+xml', _toPng: 'image/png', _toJpeg: 'image/jpeg',
  _toMarkdown: 'text/markdown', _toLatex: 'text/latex',
}

function bundleOf(value) {
  const text = typeof value === 'string' ? value : util.inspect(value)
  const bundle = { 'text/plain': text }
  if (value === null || typeof value !== 'object') return bundle
  try {
    for (const [method, mime] of Object.entries(METHODS))
      if (typeof value[method] === 'function') bundle[mime] = String(value[method]())
    if (typeof value._toMime === 'function') Object.assign(bundle, value._toMime())
  } catch {
    // The text is shown all the same.
  }
  const prototype = Object.getPrototypeOf(value)
  if (Array.isArray(value) || prototype === Object.prototype || prototype === null)
    try {
      const json = JSON.stringify(value)
      if (json !== undefined) bundle['application/json'] = JSON.parse(json)
    } catch {
      // Circular, or a BigInt.
    }
  return bundle
}

function showError(e) {
  const isError = e !== null && typeof e === 'object' && 'message' in e
  const name = isError ? String(e.name ?? 'Error') : 'Error'
  const value = isError ? String(e.message) : util.inspect(e)
  // Up to where the REPL begins.
  const lines = String((isError && e.stack) || value).split('\n')
  const end = lines.findIndex((x) => /at (sigintHandlersWrap|ContextifyScript|vm\.Script)/.test(x))
  const traceback = lines.slice(0, end < 0 ? lines.length : end).join('\n')
  send({ type: 'error', name, value, traceback })
}

globalThis.display = (bundle) => {
  const isBundle = bundle !== null && typeof bundle === 'object' &&
    Object.keys(bundle).some((key) => key.includes('/'))
  send({ type: 'result', main: false, data: isBundle ? bundle : bundleOf(bundle) })
}

// ---- source ----

// "a, { b as c }" of an import: what is declared, out of the module M.
function declare(clause, module) {
  const parts = []
  const all = clause.match(/\*\s+as\s+([\w$]+)/)
  const named = clause.match(/\{([^}]*)\}/)
  const own = clause.replace(/\{[^}]*\}/, '').replace(/\*\s+as\s+[\w$]+/, '').replace(/[\s,]/g, '')
  if (own) parts.push(`var ${own} = ${module}.default`)
  if (all) parts.push(`var ${all[1]} = ${module}`)
  for (const item of named ? named[1].split(',') : []) {
    const [name, alias] = item.trim().split(/\s+as\s+/)
    if (name && !name.startsWith('type ')) parts.push(`var ${alias ?? name} = ${module}.${name}`)
  }
  return parts
}

let modules = 0

function rewriteImports(code) {
  const pattern = /^[ \t]*import\s+(?:([\w$*{}\s,]+?)\s+from\s+)?(['"])([^'"\n]+)\2[ \t]*;?/gm
  return code.replace(pattern, (all, clause, quote, from) => {
    if (clause === undefined) return `await import('${from}');`
    if (/^type\s/.test(clause)) return ''
    const module = `__module${modules++}`
    return `var ${module} = await import('${from}'); ${declare(clause, module).join('; ')};`
  })
}

function stripWithEsbuild(code) {
  const done = require('child_process').spawnSync('esbuild',
    ['--loader=ts', '--log-level=error', '--target=esnext',
      '--tsconfig-raw={"compilerOptions":{"verbatimModuleSyntax":true,' +
      '"preserveValueImports":true,"importsNotUsedAsValues":"error"}}'],
    { input: code, encoding: 'utf8', maxBuffer: 64 << 20 })
  if (done.error) return undefined
  if (done.status !== 0) throw new SyntaxError(done.stderr.trim())
  return done.stdout
}

function stripWithTypescript(code) {
  let ts
  try {
    ts = require(require.resolve('typescript', { paths: [process.cwd(), '/usr/share/nodejs',
      '/usr/lib/node_modules', '/usr/local/lib/node_modules'] }))
  } catch {
    return undefined
  }
  return ts.transpileModule(code, { compilerOptions: { target: 'esnext', module: 'esnext' } })
    .outputText
}

function stripTypes(code) {
  const { stripTypeScriptTypes } = require('module')
  if (stripTypeScriptTypes) return stripTypeScriptTypes(code, { mode: 'transform' })
  const plain = stripWithEsbuild(code) ?? stripWithTypescript(code)
  if (plain !== undefined) return plain
  throw new Error(`TypeScript needs Node 22.13 or later (this is ${process.version}), or one of ` +
    'the packages esbuild and node-typescript')
}

// ---- running ----

const server = repl.start({ prompt: '', input: new PassThrough(), output: new PassThrough(),
  terminal: false, useGlobal: true, ignoreUndefined: true })
const evaluate = server.eval

process.on('SIGINT', () => {
  const e = new Error('Execution was interrupted')
  e.name = 'KeyboardInterrupt'
  e.stack = ''
  running?.(e)
})
// What happens between two executions, or beside one, must not end the process.
const warn = (e) => process.stderr.write(util.inspect(e) + '\n')
// Where the REPL reports what code throws.
server._domain?.removeAllListeners('error')
server._domain?.on('error', (e) => (running ? running(e) : warn(e)))
process.removeAllListeners('uncaughtException')
process.on('uncaughtException', warn)
process.on('unhandledRejection', warn)

function run(code) {
  return new Promise((resolve, reject) => {
    running = reject
    evaluate.call(server, code, server.context, 'cell',
      (e, value) => (e ? reject(e) : resolve(value)))
  })
}

function runCell(code) {
  const plain = rewriteImports(IS_TYPESCRIPT ? stripTypes(code) : code)
  return run(plain.endsWith('\n') ? plain : plain + '\n')
}

async function execute(code) {
  try {
    const value = await runCell(code)
    if (value !== undefined) send({ type: 'result', main: true, data: bundleOf(value) })
  } catch (e) {
    if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') e.name = 'KeyboardInterrupt'
    showError(e?.constructor?.name === 'Recoverable' ? e.err ?? e : e)
  }
  running = null
  send({ type: 'done' })
}

// ---- requests ----

function setVariable(text) {
  const at = text.indexOf('=')
  if (at < 0) delete process.env[text]
  else process.env[text.slice(0, at)] = text.slice(at + 1)
}

function changeDirectory(to) {
  try {
    process.chdir(to)
  } catch {
    // The server has checked it.
  }
}

const ACTS = { execute, env: setVariable, cwd: changeDirectory }
let waiting = Buffer.alloc(0)
let isBusy = false

async function work() {
  if (isBusy) return
  isBusy = true
  for (;;) {
    const end = waiting.indexOf(10)
    const [name, size] = end < 0 ? [] : waiting.toString('latin1', 0, end).split(' ')
    if (end < 0 || waiting.length < end + 1 + Number(size)) break
    const text = waiting.toString('utf8', end + 1, end + 1 + Number(size))
    waiting = waiting.subarray(end + 1 + Number(size))
    await ACTS[name](text)
  }
  isBusy = false
}

const requests = new net.Socket({ fd: 3, readable: true, writable: false })
requests.on('data', (data) => {
  waiting = waiting.length ? Buffer.concat([waiting, data]) : data
  work()
})
requests.on('end', () => process.exit(0))
send({ type: 'ready' })
