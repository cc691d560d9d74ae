// SPDX-License-Identifier: MIT
// What some of the pinned clients do not have: the first version of those we run that has it, and
// what is missing before. Cases name what they need; the matrix in docs/COMPAT.md lists these rows.

const FEATURES = {
  pause: ['2.45', 'no pause; connect does not resume'],
  paging: ['2.45', 'list has no pages, states, order or other filters'],
  killResult: ['2.45', 'kill of a handle returns no result'],
  state: ['2.45', 'getInfo returns no state and no resources'],
  lifecycle: ['2.45', 'no lifecycle options'],
  network: ['2.45', 'no network options beyond allowInternetAccess'],
  defaultUser: ['2.45', 'always names a user'],
  stdin: ['2.45', 'no stdin option, no closeStdin, no bytes'],
  ptyConnect: ['2.45', 'no reconnecting of terminals'],
  fileMetadata: ['2.45', 'no metadata of files'],
  uploads: ['2.45', 'multipart uploads only, no gzip'],
  watchEntries: ['2.45', 'watch reports names only'],
  builds: ['2.45', 'no builds of templates'],
  volumes: ['2.45', 'no volumes'],
  snapshots: ['2.45', 'no snapshots, no forks'],
  git: ['2.45', 'no git commands'],
  errors: ['2.45', 'fewer classes of errors'],
  emptyBlob: ['2.45', 'an empty file is read as nothing, not as a Blob'],
  metricsRange: ['2.45', 'the range of getMetrics is never sent'],
  reboot: ['2.50', 'no onResume'],
}

const number = (version) => {
  const [major, minor] = version.split('.').map(Number)
  return major * 1000 + minor
}

export function lacks(version, needs) {
  return needs.filter((feature) => {
    if (!FEATURES[feature]) throw new Error(`no such feature: ${feature}`)
    return number(version) < number(FEATURES[feature][0])
  }).map((feature) => ({ feature, why: FEATURES[feature][1] }))
}
