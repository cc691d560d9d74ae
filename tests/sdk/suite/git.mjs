// SPDX-License-Identifier: MIT
// The client's git commands, on repositories inside of the sandbox.

import { add } from './harness.mjs'

const area = 'git'
const AUTHOR = { authorName: 'Ada', authorEmail: 'ada@example.com' }

// A repository with one commit on main.
async function repository(t, path) {
  const { git, files } = await t.shared()
  await git.init(path, { initialBranch: 'main' })
  await files.write(`${path}/README`, 'first\n')
  await git.add(path)
  await git.commit(path, 'First', AUTHOR)
  return { git, files, commands: (await t.shared()).commands }
}

add(area, 'a first commit', async (t) => {
  const { git, files } = await t.shared()
  await git.init('/home/user/g1', { initialBranch: 'trunk' })
  await files.write('g1/a.txt', 'a')
  let status = await git.status('/home/user/g1')
  t.equal([status.currentBranch, status.hasUntracked, status.untrackedCount], ['trunk', true, 1],
    'untracked')
  await git.add('/home/user/g1', { files: ['a.txt'] })
  status = await git.status('/home/user/g1')
  t.equal([status.hasStaged, status.fileStatus[0]?.status], [true, 'added'], 'staged')
  const done = await git.commit('/home/user/g1', 'Add a', AUTHOR)
  t.match(done.stdout, /Add a/, 'committed')
  status = await git.status('/home/user/g1')
  t.equal([status.isClean, status.totalCount], [true, 0], 'clean')
}, 'git')

add(area, 'branches', async (t) => {
  const { git } = await repository(t, '/home/user/g2')
  const path = '/home/user/g2'
  await git.createBranch(path, 'feature/x')
  let { branches, currentBranch } = await git.branches(path)
  t.equal([branches.sort(), currentBranch], [['feature/x', 'main'], 'feature/x'],
    'made and checked out')
  await git.checkoutBranch(path, 'main')
  t.equal((await git.branches(path)).currentBranch, 'main', 'checked out')
  await git.deleteBranch(path, 'feature/x', { force: true })
  t.equal((await git.branches(path)).branches, ['main'], 'deleted')
  await t.rejects(git.checkoutBranch(path, 'nope'), 'CommandExitError', /exit status 1/,
    'a missing one')
}, 'git')

add(area, 'reset and restore', async (t) => {
  const { git, files } = await repository(t, '/home/user/g3')
  const path = '/home/user/g3'
  await files.write('g3/README', 'changed\n')
  t.equal((await git.status(path)).fileStatus.map((f) => f.status), ['modified'], 'modified')
  await git.add(path)
  await git.reset(path)
  t.equal((await git.status(path)).hasStaged, false, 'reset')
  await git.restore(path, { paths: ['README'] })
  t.equal(await files.read('g3/README'), 'first\n', 'restored')
  await files.remove('g3/README')
  t.equal((await git.status(path)).fileStatus.map((f) => f.status), ['deleted'], 'deleted')
  await git.reset(path, { mode: 'hard' })
  t.equal([await files.read('g3/README'), (await git.status(path)).isClean], ['first\n', true],
    'hard')
}, 'git')

add(area, 'clone, push, pull', async (t) => {
  const { git, files } = await repository(t, '/home/user/g4')
  await git.init('/home/user/g4.git', { bare: true, initialBranch: 'main' })
  await git.remoteAdd('/home/user/g4', 'origin', '/home/user/g4.git')
  t.equal(await git.remoteGet('/home/user/g4', 'origin'), '/home/user/g4.git', 'a remote')
  await git.push('/home/user/g4', { remote: 'origin', branch: 'main', setUpstream: true })
  await git.clone('/home/user/g4.git', { path: '/home/user/g4-clone', branch: 'main' })
  t.equal(await files.read('g4-clone/README'), 'first\n', 'cloned')
  await files.write('g4/second', '2\n')
  await git.add('/home/user/g4')
  await git.commit('/home/user/g4', 'Second', AUTHOR)
  t.equal((await git.status('/home/user/g4')).ahead, 1, 'ahead')
  await git.push('/home/user/g4')
  await git.pull('/home/user/g4-clone')
  t.equal(await files.read('g4-clone/second'), '2\n', 'pulled')
  t.equal((await git.status('/home/user/g4-clone')).upstream, 'origin/main', 'upstream')
}, 'git')

add(area, 'settings', async (t) => {
  const { git } = await repository(t, '/home/user/g5')
  await git.configureUser('Grace', 'grace@example.com', { scope: 'local', path: '/home/user/g5' })
  t.equal(await git.getConfig('user.name', { scope: 'local', path: '/home/user/g5' }), 'Grace',
    'a name')
  await git.setConfig('pull.rebase', 'false')
  t.equal(await git.getConfig('pull.rebase'), 'false', 'global')
  t.equal(await git.getConfig('no.such'), undefined, 'one that is not set')
}, 'git')
