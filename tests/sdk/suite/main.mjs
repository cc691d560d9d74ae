// SPDX-License-Identifier: MIT
// Runs the suite with one pinned client: node main.mjs [TEXT]. test_e2b.py sets the environment.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { env, run } from './harness.mjs'

const AREAS = ['control', 'list', 'pause', 'commands', 'files', 'watch', 'pty', 'git', 'network',
  'volumes', 'snapshots', 'builds', 'hosts']
const wanted = process.env.SDK_AREAS ?? '' // "": all; "-X": all but X
const isWanted = (area) =>
  wanted.startsWith('-') ? `-${area}` !== wanted : !wanted || area === wanted

for (const area of AREAS.filter(isWanted)) await import(`./${area}.mjs`)
const entry = join(process.env.SDK_MODULES, `e2b-${env.version}`, 'dist', 'index.mjs')
const result = await run(await import(pathToFileURL(entry)), process.argv[2])
if (process.env.SDK_RESULT) writeFileSync(process.env.SDK_RESULT, JSON.stringify(result, null, 2))
const failed = Object.values(result.areas).some((area) => area.failed > 0)
process.exit(failed ? 1 : 0)
