// SPDX-License-Identifier: MIT
// The desktop client of E2B, every call of it once: node desktop.mjs
// SDK_MODULES is the node_modules that has it. Prints what it saw as one line of JSON, waits for
// its input to end, stops the stream and kills the sandbox. The window that is clicked in is
// xev's, which writes down what it gets.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const file = join(process.env.SDK_MODULES, '@e2b', 'desktop', 'dist', 'index.mjs')
const { Sandbox } = await import(pathToFileURL(file))
const TRIES = 120

const APPLICATION = `[Desktop Entry]
Type=Application
Name=Events
Exec=sh -c "xev -name Events -geometry 400x300+100+100 > /tmp/events"
`

async function until(what, ask) {
  for (let i = 0; i < TRIES; i++) {
    const got = await ask().catch(() => undefined)
    if (got) return got
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`waited in vain for ${what}`)
}

const box = await Sandbox.create({ resolution: [1280, 720], dpi: 96, timeoutMs: 600_000 })
const out = async (command) => (await box.commands.run(command)).stdout.trim()
// What xev wrote: buttons by number, keys by name.
const FIND = `grep -A3 -E '^(Button|Key)Press' /tmp/events |
  grep -oE 'button [0-9]+|, [A-Za-z_]+\\)'`
const events = async () =>
  (await out(FIND)).replace(/[,) ]|button/g, '').split('\n')
const heard = (count) => until(`${count} events`, async () => {
  const all = await events()
  return all.length >= count && all
})
const window = (title) => until(`window ${title}`, async () =>
  (await out(`xdotool search --onlyvisible --name ${title}`)).split('\n')[0])

const seen = {}
try {
  seen.user = await out('ps -o user= -C Xvfb,xfwm4')
  seen.size = await box.getScreenSize()
  await box.moveMouse(20, 30)
  seen.cursor = await box.getCursorPosition()

  await box.files.write('.local/share/applications/events.desktop', APPLICATION)
  await box.launch('events')
  const id = await window('Events')
  await until('xev', () => out('test -s /tmp/events && echo yes'))
  await box.leftClick(300, 250)
  seen.focus = [await box.getCurrentWindowId() === id, await box.getWindowTitle(id)]
  await box.write('Hi, all')
  await box.press('enter')
  await box.press(['ctrl', 'c'])
  await box.doubleClick(310, 260)
  await box.rightClick()
  await box.middleClick()
  await box.scroll('up', 2)
  await box.scroll('down')
  await box.drag([200, 200], [350, 300])
  seen.events = await heard(20)
  seen.dragged = await out("grep -c '^MotionNotify' /tmp/events")
  seen.dropped = await box.getCursorPosition()

  await box.files.write('page.html', '<title>Opened</title><h1>Opened</h1>')
  await box.open('/home/user/page.html')
  await window('Opened')
  seen.browsers = (await box.getApplicationWindows('chromium')).length
  const picture = Buffer.from(await box.screenshot())
  seen.picture = [picture.subarray(1, 4).toString(),
                  picture.readUInt32BE(16), picture.readUInt32BE(20)]
  seen.bytes = picture.length

  await box.stream.start({ requireAuth: true })
  seen.stream = box.stream.getUrl({ authKey: box.stream.getAuthKey() })
  seen.again = await box.stream.start().catch((e) => e.message)
  console.log(JSON.stringify(seen))
  for await (const ignored of process.stdin);
  await box.stream.stop()
  await until('the end of the stream', () => out('! pgrep -x x11vnc && echo over'))
} finally {
  await box.kill()
}
