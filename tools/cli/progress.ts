/** A progress bar. */
export interface ProgressBar {
  show(stage: string, done: number, total: number): void
  /** Removes the bar. */
  clear(): void
}

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Milliseconds between two updates. */
const PAUSE = 100

const WIDTH = 24

/** Shows one line on a terminal; does nothing for other outputs. */
export function progressBar(screen: Screen): ProgressBar {
  if (screen.isTTY !== true) return { show: () => {}, clear: () => {} }
  let last = 0
  let began = performance.now()
  let current = ''
  return {
    show(stage, done, total) {
      const now = performance.now()
      if (stage !== current) {
        current = stage
        began = now
      } else if (now - last < PAUSE && done < total) return
      last = now
      const line = lineOf(stage, { done, total, milliseconds: now - began })
      screen.write(`\r\x1b[2K${line.slice(0, (screen.columns ?? 80) - 1)}`)
    },
    clear: () => void screen.write('\r\x1b[2K'),
  }
}

interface Shown {
  readonly done: number
  readonly total: number
  readonly milliseconds: number
}

function lineOf(stage: string, { done, total, milliseconds }: Shown): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const rate =
    milliseconds < 500 ? '' : `  ${Math.round((done / milliseconds) * 1000).toLocaleString('en')}/s`
  return `${stage} ${bar} ${Math.floor(share * 100)}%  ${done.toLocaleString('en')} of ${total.toLocaleString('en')}${rate}`
}
