import { PRODUCT_VERSION } from '../../core/base/product.ts'
import { type Paint, paintFor } from './paint.ts'
import type { Screen } from './progress.ts'

/** The messages of a start on standard error. The log is on standard output. */
export interface StartScreen {
  readonly paint: Paint
  /** Shows the step in progress: with a spinner on a terminal, else on a line of its own. */
  step(text: string): void
  /** Ends the step and writes lines that stay. */
  say(text: string): void
  /** Removes the spinner until the next frame, for a line of the log. */
  clear(): void
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** Milliseconds between two frames. */
const FRAME = 80

const CLEAR = '\r\x1b[2K'

/** Begins with the first step at once, before the code of the server is loaded. */
export function openStartScreen(
  screen: Screen,
  env: Readonly<Record<string, string | undefined>>,
): StartScreen {
  const isTerminal = screen.isTTY === true
  const paint = paintFor(isTerminal, env)
  let current: string | null = null
  let frame = 0
  const draw = () => {
    if (current === null) return
    const sign = FRAMES[frame++ % FRAMES.length] ?? ''
    // A pseudo-terminal may have 0 columns.
    const width = (screen.columns || 80) - 3
    screen.write(`${CLEAR}${paint('green', sign)} ${current.slice(0, width)}`)
  }
  const timer = isTerminal ? setInterval(draw, FRAME).unref() : undefined
  const clear = () => {
    if (isTerminal && current !== null) screen.write(CLEAR)
  }
  const shown: StartScreen = {
    paint,
    step(text) {
      current = text
      if (isTerminal) draw()
      else screen.write(`${text}\n`)
      timer?.refresh()
    },
    say(text) {
      clear()
      current = null
      screen.write(text)
    },
    clear,
  }
  shown.step(`Plinth ${PRODUCT_VERSION}: reading the project …`)
  return shown
}

/** The log of `plinth start`: sentences on a terminal, JSON for other outputs. */
export const terminalLog = (screen?: StartScreen) => ({
  write(line: string) {
    screen?.clear()
    process.stdout.write(line)
  },
  pretty: process.stdout.isTTY === true,
})
