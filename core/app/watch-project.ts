import { type FSWatcher, watch } from 'node:fs'
import { relative } from 'node:path'
import { changesBetween, type FileStamps, readStamps } from './file-stamps.ts'

export interface ProjectWatchOptions {
  /** The folder of project.yaml. */
  readonly root: string
  /** The files that the project was last read from, as absolute paths. */
  known(): readonly string[]
  /** Called with files that were written, created or removed, as paths relative to the root. */
  changed(files: readonly string[]): void
  /** Called once if the system cannot watch files: changes are then found by polling. */
  failed(message: string): void
}

export interface ProjectWatch {
  close(): void
}

/** Milliseconds without further events before files are read: editors save in several steps. */
const DEBOUNCE = 40

/** Milliseconds between two polls: some file systems, such as network mounts, emit no events. */
const POLL_INTERVAL = 1_000

/** The largest share of time that polling may take. */
const MAX_POLL_SHARE = 1 / 50

/**
 * Reports every file that is saved after `since`. Events of the system are only hints: they differ between systems, come
 * twice or not at all, and stop for replaced folders. Changes are detected by comparing stamps.
 */
export function watchProject(since: FileStamps, options: ProjectWatchOptions): ProjectWatch {
  let stamps = since
  const poll = openTimer(async () => {
    const began = performance.now()
    const next = await readStamps(options.root, options.known())
    const changes = changesBetween(stamps, next, options.root)
    stamps = next
    watchers.watch(next.folders)
    if (changes.length > 0) options.changed(changes.map(path => relative(options.root, path)))
    return Math.max(POLL_INTERVAL, (performance.now() - began) / MAX_POLL_SHARE)
  })
  const watchers = openWatchers(() => poll.schedule(DEBOUNCE), options.failed)
  poll.schedule(0)
  return {
    close() {
      poll.close()
      watchers.watch(new Map())
    },
  }
}

interface PollTimer {
  /** Sets the next run in so many milliseconds, replacing an earlier time; repeated calls delay it at most MAX_DEBOUNCE. */
  schedule(milliseconds: number): void
  close(): void
}

const MAX_DEBOUNCE = 300

/** Runs `work` when due, and again after the milliseconds that it returns. Does not keep the process alive. */
function openTimer(work: () => Promise<number>): PollTimer {
  let timer: NodeJS.Timeout | undefined
  let requestedAt: number | null = null
  let isRunning = false
  let isOpen = true
  const set = (milliseconds: number) => {
    clearTimeout(timer)
    if (isOpen) timer = setTimeout(() => void run(), milliseconds).unref()
  }
  const run = async () => {
    isRunning = true
    requestedAt = null
    const next = await work()
    isRunning = false
    set(requestedAt === null ? next : DEBOUNCE)
  }
  return {
    schedule(milliseconds) {
      requestedAt ??= performance.now()
      if (!isRunning && performance.now() - requestedAt < MAX_DEBOUNCE) set(milliseconds)
    },
    close() {
      isOpen = false
      clearTimeout(timer)
    },
  }
}

interface Watchers {
  /** Watches exactly these folders. */
  watch(folders: FileStamps['folders']): void
}

function openWatchers(hint: () => void, failed: (message: string) => void): Watchers {
  const open = new Map<string, FSWatcher>()
  let isReported = false
  const fail = (error: unknown) => {
    if (!isReported) failed(error instanceof Error ? error.message : String(error))
    isReported = true
  }
  const close = (key: string) => {
    open.get(key)?.close()
    open.delete(key)
  }
  const listen = (key: string, folder: string) => {
    try {
      const watcher = watch(folder, { persistent: false }, hint)
      watcher.on('error', () => close(key))
      open.set(key, watcher)
    } catch (error) {
      fail(error)
    }
  }
  return {
    watch(folders) {
      const wanted = new Map(Array.from(folders, ([folder, stamp]) => [`${folder} ${stamp}`, folder]))
      for (const key of [...open.keys()].filter(key => !wanted.has(key))) close(key)
      for (const [key, folder] of wanted) if (!open.has(key)) listen(key, folder)
    },
  }
}
