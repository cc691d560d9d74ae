// SPDX-License-Identifier: MIT
// Loaded before a client (node --require): every name below SDK_DOMAIN is this machine, for this
// process alone. Node does not ask anybody for *.localhost, and no test touches /etc/hosts.

const dns = require('node:dns')

const domain = (process.env.SDK_DOMAIN ?? '').replace(/:\d+$/, '')
const lookup = dns.lookup

dns.lookup = (name, options, done) => {
  if (typeof options === 'function') [options, done] = [{}, options]
  const isOurs = domain && (name === domain || name.endsWith('.' + domain))
  if (!isOurs) return lookup(name, options, done)
  const isAll = typeof options === 'object' && options?.all
  process.nextTick(() => isAll ? done(null, [{ address: '127.0.0.1', family: 4 }])
    : done(null, '127.0.0.1', 4))
}
