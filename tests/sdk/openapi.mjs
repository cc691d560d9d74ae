// SPDX-License-Identifier: MIT
// node openapi.mjs DOCUMENT ANSWERS: is the document OpenAPI, and are the answers as it says?
// ANSWERS is an array of {method, path, status, request, body}. Prints {valid, errors, answers}.
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const doc = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const answers = JSON.parse(readFileSync(process.argv[3], 'utf8'))

// What a schema does not name is not there: a document that leaves things out is found, too.
function close(node) {
  if (Array.isArray(node)) return node.map(close)
  if (node === null || typeof node !== 'object') return node
  const out = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, close(v)]))
  if (node.type === 'object' && node.properties && node.additionalProperties === undefined)
    out.additionalProperties = false
  return out
}

const ajv = new Ajv({ strict: false, allErrors: true })
formats(ajv)
ajv.addSchema({ $id: 'doc', ...close(doc) })

const escape = (s) => encodeURIComponent(s.replaceAll('~', '~0').replaceAll('/', '~1'))
function faults(pointer, value) {
  const check = ajv.compile({ $ref: `doc#/${pointer.map(escape).join('/')}` })
  if (check(value)) return []
  // Each once, whichever item of a list it is of.
  const text = (e) =>
    `${e.instancePath.replace(/\d+/g, '*')}: ${e.message} ${JSON.stringify(e.params)}`
  return [...new Set(check.errors.map(text))]
}

const json = ['content', 'application/json', 'schema']
const result = await new Validator().validate(structuredClone(doc))
const said = answers.map((a) => {
  const operation = doc.paths[a.path]?.[a.method]
  if (!operation) return [`${a.method} ${a.path} is not in the document`]
  const status = operation.responses[a.status] ? String(a.status) : 'default'
  const at = ['paths', a.path, a.method]
  const wrong = a.status < 400 && status === 'default' ? [`${a.status} is not in the document`] : []
  if (a.request !== null && a.status < 400)
    wrong.push(...faults([...at, 'requestBody', ...json], a.request))
  return [...wrong, ...faults([...at, 'responses', status, ...json], a.body)]
})
console.log(JSON.stringify({ valid: result.valid, errors: result.errors ?? [], answers: said }))
