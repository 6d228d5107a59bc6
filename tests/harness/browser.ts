import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import axe from 'axe-core'
import connect, { type Client } from 'chrome-remote-interface'
import { findChromium } from './chromium.ts'
import { temporaryFolder } from './folder.ts'

/** A headless Chromium with one page. Waits for nothing longer than `PATIENCE`. */
export interface Browser {
  /** Goes there; what the page does then is to be waited for. */
  open(url: string): Promise<void>
  /** Evaluates an expression in the page; rejects with the exception that it throws there. */
  evaluate(expression: string): Promise<unknown>
  /** Evaluates until the answer is neither false nor empty. An exception counts as false. */
  until(expression: string): Promise<unknown>
  /** Waits for the element of an expression and clicks it in the same evaluation: the page may remove it between two. */
  click(element: string): Promise<void>
  /** The address and the text of the page. */
  shown(): Promise<string>
  /** The serious and critical findings of axe in the page: rule and place. */
  audit(): Promise<readonly string[]>
  /** Writes text where the cursor is. */
  type(text: string): Promise<void>
  /** A key with its modifiers, as `KeyboardEvent.key` names them: `Enter`, `Control+Shift+x`. */
  press(keys: string): Promise<void>
  /** Requests to these addresses (`*`: any text) fail from now on, as if the connection were lost. */
  block(addresses: readonly string[]): Promise<void>
  /** Shows the page in a window of this size and in these colours. */
  emulate(view: View): Promise<void>
  /** What the page holds after its garbage was collected. */
  live(): Promise<LiveMemory>
  /** A PNG file of what the window shows. */
  screenshot(): Promise<Buffer>
  /** The addresses of all that the page has asked for. */
  readonly requests: readonly string[]
  /** The bodies of all responses with JSON until now. */
  bodies(): Promise<readonly string[]>
  /** The errors of the page, and its violations of the content security policy. */
  readonly complaints: string[]
  /** Where its DevTools listen, as long as it runs. */
  readonly port: number
  close(): Promise<void>
}

export interface View {
  /** CSS pixels. */
  readonly width: number
  readonly height: number
  readonly dark: boolean
}

export interface LiveMemory {
  readonly bytes: number
  readonly nodes: number
  readonly listeners: number
}

/** Milliseconds. */
const PATIENCE = 120_000

const FLAGS = [
  '--headless=new',
  // Tests may run as root, which Chromium's sandbox does not.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--no-first-run',
  '--remote-debugging-port=0',
  // Chromium ends when this pipe closes, so also when the process of the test is killed.
  '--remote-debugging-pipe',
  '--window-size=1280,800',
]

export async function openBrowser(): Promise<Browser> {
  chromium ??= startChromium()
  const { port, address } = await chromium
  const browser = await connect({ target: address })
  try {
    // A context has cookies, storage and a cache of its own, and ends with the connection that made it.
    const { browserContextId } = await browser.Target.createBrowserContext({ disposeOnDetach: true })
    const { targetId } = await browser.Target.createTarget({ url: 'about:blank', browserContextId })
    const client = await connect({ host: '127.0.0.1', port, target: targetId })
    return await drive(client, port, () => browser.close())
  } catch (error) {
    await browser.close()
    throw error
  }
}

interface Chromium {
  readonly port: number
  /** Of its DevTools, for the browser itself instead of one page. */
  readonly address: string
}

/** One for all tests of the process: starting another takes longer than most of them. Absent: none runs. */
let chromium: Promise<Chromium> | undefined

async function startChromium(): Promise<Chromium> {
  const program = findChromium()
  if (program === undefined) throw new Error('No Chromium: install it, or name it in CHROMIUM')
  const profile = temporaryFolder()
  const child = spawn(
    program,
    [...FLAGS, `--user-data-dir=${join(profile.path, 'profile')}`, 'about:blank'],
    {
      // Chromium leaves a folder with its socket when it is killed.
      env: { ...process.env, TMPDIR: profile.path },
      // 3 and 4 are the pipe, to and from Chromium.
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    },
  )
  process.on('exit', () => {
    if (child.pid !== undefined) endGroup(child.pid)
    profile.remove()
  })
  child.on('close', () => {
    chromium = undefined
  })
  const address = await addressOf(child)
  // It does not keep the process of the tests running.
  child.unref()
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref()
  return { port: Number(new URL(address).port), address }
}

async function drive(client: Client, port: number, close: () => Promise<void>): Promise<Browser> {
  const { Page, Network, Runtime, Log, Input } = client
  const requests: string[] = []
  const complaints: string[] = []
  Network.requestWillBeSent(({ request }) => requests.push(request.url))
  const json = new Set<string>()
  const bodies: Promise<string>[] = []
  Network.responseReceived(({ requestId, response }) => {
    if (/json/.test(response.mimeType)) json.add(requestId)
  })
  const readBody = (requestId: string): Promise<string> =>
    Network.getResponseBody({ requestId }).then(
      ({ body }) => body,
      (error: Error) => {
        // The browser keeps no bodies of a page that was left.
        if (/No resource with given identifier|closed|not open/.test(error.message)) return ''
        throw error
      },
    )
  let closing = false
  Network.loadingFinished(({ requestId }) => {
    if (json.has(requestId) && !closing) bodies.push(readBody(requestId))
  })
  Runtime.exceptionThrown(({ exceptionDetails }) => complaints.push(exceptionDetails.text))
  Log.entryAdded(({ entry }) => {
    if (entry.level === 'error') complaints.push(entry.text)
  })
  // A dialog stops the page until it is answered.
  Page.javascriptDialogOpening(({ message }) => {
    complaints.push(`dialog: ${message}`)
    void Page.handleJavaScriptDialog({ accept: false })
  })
  await Promise.all([Page.enable(), Network.enable({}), Runtime.enable(), Log.enable()])
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = await Runtime.evaluate({ expression, returnByValue: true, awaitPromise: true })
    const { exceptionDetails: thrown } = answer
    if (thrown) throw new PageException(thrown.exception?.description ?? thrown.text, expression)
    return answer.result.value
  }
  const look = async (expression: string): Promise<unknown> => {
    let last = ''
    const attempt = () =>
      evaluate(expression).catch((error: Error) => {
        last = error.message
        return notYet(error)
      })
    return until(attempt, expression).catch(async (error: Error) => {
      const page = `The page shows: ${await shown()}\nErrors: ${complaints.join('\n')}`
      throw new Error([error.message, last, page].filter(text => text !== '').join('\n'))
    })
  }
  const shown = async () => String(await evaluate(SHOWN))
  return {
    port,
    requests,
    bodies: () => Promise.all(bodies),
    complaints,
    evaluate,
    async open(url) {
      await Page.navigate({ url })
    },
    until: look,
    async click(element) {
      await look(`(element => { element?.click(); return Boolean(element) })(${element})`)
    },
    shown,
    async audit() {
      await evaluate(`${axe.source}; undefined`)
      return (await evaluate(AUDIT)) as readonly string[]
    },
    type: text => Input.insertText({ text }),
    async press(keys) {
      const event = keyEvent(keys)
      await Input.dispatchKeyEvent({ ...event, type: event.text === undefined ? 'rawKeyDown' : 'keyDown' })
      await Input.dispatchKeyEvent({ ...event, type: 'keyUp' })
    },
    async block(addresses) {
      await Network.setBlockedURLs({ urls: [...addresses] })
    },
    async emulate(view) {
      await emulate(client, view)
      await until(() => evaluate(isEmulated(view)), 'the emulated window')
    },
    live: () => measureLive(client),
    screenshot: async () => Buffer.from((await Page.captureScreenshot({ format: 'png' })).data, 'base64'),
    async close() {
      closing = true
      await client.close()
      await close()
    },
  }
}

/** An expression threw in the page. */
class PageException extends Error {
  constructor(description: string, expression: string) {
    super(`${description}\nin ${expression.slice(0, 300)}`)
  }
}

/** The expression threw, or the page was left while it was evaluated. */
function notYet(error: Error): false {
  if (error instanceof PageException) return false
  if (/Inspected target navigated|Execution context was destroyed|Cannot find context/.test(error.message))
    return false
  throw error
}

async function emulate({ Emulation }: Client, { width, height, dark }: View): Promise<void> {
  await Emulation.setDeviceMetricsOverride({ width, height, deviceScaleFactor: 1, mobile: false })
  const value = dark ? 'dark' : 'light'
  await Emulation.setEmulatedMedia({ features: [{ name: 'prefers-color-scheme', value }] })
}

/** The page is not yet resized when the command is answered. */
const isEmulated = ({ width, dark }: View): string =>
  `innerWidth === ${width} && matchMedia('(prefers-color-scheme: dark)').matches === ${dark}`

async function measureLive({ HeapProfiler, Performance }: Client): Promise<LiveMemory> {
  await Performance.enable({})
  // What finalizers of the first collection release is garbage for the second one.
  await HeapProfiler.collectGarbage()
  await HeapProfiler.collectGarbage()
  const { metrics } = await Performance.getMetrics()
  const metric = (name: string): number => metrics.find(each => each.name === name)?.value ?? Number.NaN
  return {
    bytes: metric('JSHeapUsedSize'),
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  }
}

const MODIFIERS = ['Alt', 'Control', 'Meta', 'Shift']

/** What the browser does of its own at these keys: it writes text, or runs a command of its editor. */
const KEYS: Readonly<Record<string, { readonly code: number; readonly text?: string }>> = {
  Enter: { code: 13, text: '\r' },
  Tab: { code: 9 },
  Escape: { code: 27 },
  Backspace: { code: 8 },
  Delete: { code: 46 },
  Home: { code: 36 },
  End: { code: 35 },
  ArrowLeft: { code: 37 },
  ArrowUp: { code: 38 },
  ArrowRight: { code: 39 },
  ArrowDown: { code: 40 },
  F10: { code: 121 },
  ' ': { code: 32, text: ' ' },
}

function keyEvent(keys: string) {
  const parts = keys.split('+')
  const key = parts.at(-1) ?? ''
  const modifiers = MODIFIERS.reduce((sum, name, bit) => sum + (parts.includes(name) ? 2 ** bit : 0), 0)
  const { code, text } = KEYS[key] ?? { code: key.toUpperCase().charCodeAt(0) }
  const commands = key === 'a' && parts.includes('Control') ? ['selectAll'] : []
  return {
    key,
    code: key.length === 1 && key !== ' ' ? `Key${key.toUpperCase()}` : key,
    windowsVirtualKeyCode: code,
    modifiers,
    commands,
    ...(text !== undefined && { text }),
  }
}

const SHOWN = `location.href + '\\n' + document.body.innerText.slice(0, 2000)`

/** The size of targets (WCAG 2.2, 2.5.8) is not among axe's default rules. */
const AUDIT = `axe.run(document, {
  preload: false,
  resultTypes: ['violations'],
  rules: { 'target-size': { enabled: true } },
}).then(({ violations }) =>
  violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`

async function until(look: () => Promise<unknown>, what: string): Promise<unknown> {
  const deadline = Date.now() + PATIENCE
  while (Date.now() < deadline) {
    const found = await look()
    if (found) return found
    await pause(50)
  }
  throw new Error(`Never came true in the page: ${what}`)
}

/** Chromium says where it listens, and nothing else of use. */
async function addressOf(child: ChildProcess): Promise<string> {
  let said = ''
  child.stderr?.on('data', part => {
    said += String(part)
  })
  const address = async () => /DevTools listening on (ws:\S+)/.exec(said)?.[1]
  return String(await until(address, `DevTools listening: ${said}`))
}

/** The group is Chromium's own, as it is started detached. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    // All of its processes have ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
