// SPDX-License-Identifier: MIT
// Templates that clients build: steps, files, the cache, tags, and what goes wrong.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add } from './harness.mjs'

const area = 'builds'
const name = (what) => `${what}-${Math.random().toString(16).slice(2, 10)}`

// A directory with files for COPY; gone afterwards.
async function withContext(files, run) {
  const dir = mkdtempSync(join(tmpdir(), 'sdk-build-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(dir, path, '..'), { recursive: true })
      writeFileSync(join(dir, path), text)
    }
    return await run(dir)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

// Builds, and what the log said.
async function build(t, template, alias, options = {}) {
  const lines = []
  const info = await t.sdk.Template.build(template, alias,
    { cpuCount: 1, memoryMB: 512, onBuildLogs: (x) => lines.push(x.message), ...options })
  return { info, log: lines.join('\n') }
}

add(area, 'every kind of step', (t) => withContext({
  'hello.txt': 'hello\n', 'app/main.py': 'print("main")\n', 'app/lib/x.py': 'x = 1\n',
  'app/skip.log': 'not wanted\n', '.dockerignore': '**/*.log\n',
}, async (dir) => {
  const { Template, waitForPort } = t.sdk
  const alias = name('every')
  const template = Template({ fileContextPath: dir })
    .fromBaseImage()
    .setEnvs({ COLOR: 'blue', GREETING: 'hi there' })
    .setWorkdir('/srv/desk')
    .setUser('root')
    .runCmd('echo "$COLOR" > /srv/color && echo built as $(id -un)')
    .setUser('user')
    .copy('hello.txt', '/srv/desk/copied.txt', { mode: 0o640 })
    .copy('app', 'app')
    .runCmd('id -un > mine && pwd')
    .setStartCmd('python3 -m http.server 8123', waitForPort(8123))
  const { info, log } = await build(t, template, alias)
  t.ok(info.templateId && info.buildId, 'it has ids')
  t.match(log, /built as root/, 'the log has the output')
  t.match(log, /\/srv\/desk/, 'of each step')
  t.equal(await Template.exists(alias), true, 'it exists')
  const box = await t.create(alias)
  const look = async (command) => (await box.commands.run(command)).stdout
  t.equal(await look('cat /srv/color; echo $COLOR; echo $GREETING'), 'blue\nblue\nhi there\n',
    'variables')
  t.equal(await look('pwd'), '/srv/desk\n', 'the directory')
  t.equal(await look('cat copied.txt mine; stat -c "%a %U" copied.txt'),
    'hello\nuser\n640 user\n', 'a copied file')
  t.equal(await look('cd app && find . -type f | sort'), './lib/x.py\n./main.py\n',
    'a directory, without what is ignored')
  t.match(await look('for i in $(seq 100); do curl -s localhost:8123/ && break; sleep 0.1; done'),
    /copied.txt/, 'the start command runs')
  const info2 = await box.getInfo()
  t.equal([info2.memoryMB, info2.templateId], [512, info.templateId], 'its size and template')

  const again = await build(t, template, alias)
  t.match(again.log, /CACHED \[3\/\d+\]/, 'the same again comes from the cache')
  t.equal(again.info.templateId, info.templateId, 'it is the same template')

  await t.rejects(t.create(`${alias}:nope`), 'Error', /tag 'nope' does not exist/, 'no such tag')
  await Template.assignTags(alias, ['stable', 'v1'])
  const tags = await Template.getTags(alias)
  t.equal(tags.map((x) => x.tag).sort(), ['default', 'stable', 'v1'], 'tags')
  const tagged = await t.create(`${alias}:v1`)
  t.equal((await tagged.commands.run('cat /srv/color')).stdout, 'blue\n', 'a sandbox by its tag')
  await Template.removeTags(alias, ['v1'])
  await t.rejects(t.create(`${alias}:v1`), 'Error', /does not exist/, 'a removed tag')

  const { info: child } = await build(t,
    Template().fromTemplate(alias).runCmd('cat /srv/color > more'), `${alias}-child`)
  const born = await t.create(child.name ?? `${alias}-child`)
  t.equal((await born.commands.run('cat more; pwd; echo $COLOR')).stdout,
    'blue\n/srv/desk\nblue\n', 'fromTemplate has all of it')
  const gone = await t.api('DELETE', `/templates/${alias}`)
  t.equal(gone.status, 204, 'delete')
  t.equal(await Template.exists(alias), false, 'it is gone')
  t.equal((await t.api('DELETE', `/templates/${alias}`)).status, 404, 'delete again')
  t.equal((await tagged.commands.run('cat /srv/color')).stdout, 'blue\n', 'sandboxes go on')
  await t.api('DELETE', `/templates/${alias}-child`)
}), 'builds')

add(area, 'a step that fails', async (t) => {
  const { Template } = t.sdk
  const alias = name('fails')
  const template = Template().fromBaseImage()
    .runCmd('echo fine')
    .runCmd('echo some output; echo the reason >&2; exit 7')
    .runCmd('echo never')
  const lines = []
  const error = await t.rejects(Template.build(template, alias,
    { onBuildLogs: (x) => lines.push(`${x.level} ${x.message}`) }), 'BuildError',
  /exited with status 7: the reason/, 'the error says why')
  const at = readFileSync(new URL(import.meta.url), 'utf8').split('\n')
    .findIndex((x) => x.includes('the reason >&2')) + 1
  t.match(error?.stack ?? '', new RegExp(`builds\\.mjs:${at}:`), 'and where the step is written')
  t.ok(lines.some((x) => x === 'info some output'), 'its output is in the log')
  t.ok(lines.some((x) => x === 'error the reason'), 'its errors as such')
  t.ok(!lines.some((x) => /never/.test(x)), 'nothing after it was run')
  t.equal(await Template.exists(alias), false, 'there is no such template')
  const left = (await t.api('GET', '/v2/sandboxes')).json
    .filter((x) => x.templateID === 'base' && x.state === 'running' && !x.metadata?.name)
  t.equal(left.length, 0, 'no sandbox is left')
}, 'builds')

add(area, 'bases that are not there', async (t) => {
  const { Template } = t.sdk
  await t.rejects(Template.build(Template().fromImage('nobody/nothing:1'), name('none')),
    'BuildError', /image 'nobody\/nothing:1' is not known here/, 'an unknown image')
  await t.rejects(Template.build(Template().fromTemplate('no-such-template'), name('none')),
    'BuildError', /template 'no-such-template' not found/, 'an unknown template')
  await t.rejects(Template.build(Template().fromBaseImage().setUser('nobody-here'), name('none')),
    'BuildError', /nobody-here/, 'an unknown user')
  await t.rejects(Template.build(Template().fromBaseImage(), 'Bad Name!'), 'BuildError',
    /Invalid template name/, 'a bad name')
  await t.rejects(Template.build(Template().fromBaseImage()
    .setStartCmd('sleep 100', 'exit 0').runCmd?.('true') ?? Template().fromBaseImage(),
  'bad:Tag Name'), 'BuildError', /Invalid tag/, 'a bad tag')
}, 'builds')

add(area, 'a Dockerfile', (t) => withContext({
  'data.txt': 'from the context\n',
  'Dockerfile': 'FROM e2bdev/base\nENV A=1 B=two\nWORKDIR /opt/it\nCOPY data.txt .\n' +
    'RUN cat data.txt | tr a-z A-Z > upper.txt\nUSER user\n',
}, async (dir) => {
  const { Template } = t.sdk
  const alias = name('docker')
  const template = Template({ fileContextPath: dir }).fromDockerfile(join(dir, 'Dockerfile'))
  await build(t, template, alias)
  const box = await t.create(alias)
  t.equal((await box.commands.run('cat upper.txt; echo $A $B')).stdout,
    'FROM THE CONTEXT\n1 two\n', 'its instructions are steps')
  await t.api('DELETE', `/templates/${alias}`)
}), 'builds')
