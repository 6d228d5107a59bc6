import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { workerData } from 'node:worker_threads'

// A thread of a process that runs test files: writes where the main thread is while its event loop is blocked. The runner ends
// such a process, and could not say why.

const { counter, file, interval } = workerData
const turns = new Int32Array(counter)
let last = -1

setInterval(() => {
  const now = Atomics.load(turns, 0)
  if (now === last) recordStack()
  last = now
}, interval)

function recordStack() {
  const session = new Session()
  const scripts = new Map()
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => scripts.set(scriptId, url))
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const lines = callFrames.map(({ functionName, location: { scriptId, lineNumber } }) => {
      return `  at ${functionName || '(anonymous)'} (${scripts.get(scriptId)}:${lineNumber + 1})`
    })
    writeFileSync(file, lines.slice(0, 40).join('\n'))
    session.post('Debugger.resume', () => session.disconnect())
  })
  session.post('Debugger.enable', () => session.post('Debugger.pause'))
}
