import { type FSWatcher, watch } from 'node:fs'
import { relative } from 'node:path'
import { changesBetween, type FileStamps, readStamps } from './file-stamps.ts'

export interface WatchTerms {
  /** The folder of project.yaml. */
  readonly root: string
  /** Absolute: the files that the project was read from the last time. */
  known(): readonly string[]
  /** These were written, made or removed; their paths from the root. */
  changed(files: readonly string[]): void
  /** The system tells nothing of changes, so that they are found a little later. Called once. */
  failed(message: string): void
}

export interface ProjectWatch {
  close(): void
}

/** Milliseconds without a word from the system until files are looked at: editors write in several steps. */
const QUIET = 40

/** Milliseconds after which files are looked at without a word: not every file system, nor every network, says one. */
const UNASKED = 1_000

/** Looking may take this part of the process's time. */
const SHARE = 1 / 50

/**
 * Tells of every file that is saved after `since`. What the system says of changes is taken as a hint: it differs
 * between systems, tells of saves twice or not at all, and loses folders that are replaced. What counts are the stamps.
 */
export function watchProject(since: FileStamps, terms: WatchTerms): ProjectWatch {
  let stamps = since
  const look = openTimer(async () => {
    const began = performance.now()
    const next = await readStamps(terms.root, terms.known())
    const changes = changesBetween(stamps, next, terms.root)
    stamps = next
    watchers.watch(next.folders)
    if (changes.length > 0) terms.changed(changes.map(path => relative(terms.root, path)))
    return Math.max(UNASKED, (performance.now() - began) / SHARE)
  })
  const watchers = openWatchers(() => look.in(QUIET), terms.failed)
  look.in(0)
  return {
    close() {
      look.close()
      watchers.watch(new Map())
    },
  }
}

interface Timer {
  /** Milliseconds from now, in place of any time that was given before; asked again and again, PATIENCE at most. */
  in(milliseconds: number): void
  close(): void
}

const PATIENCE = 300

/** Does its work when its time comes, and again when the work says. Keeps no process from ending. */
function openTimer(work: () => Promise<number>): Timer {
  let timer: NodeJS.Timeout | undefined
  let askedAt: number | null = null
  let isAtWork = false
  let isOpen = true
  const set = (milliseconds: number) => {
    clearTimeout(timer)
    if (isOpen) timer = setTimeout(() => void run(), milliseconds).unref()
  }
  const run = async () => {
    isAtWork = true
    askedAt = null
    const next = await work()
    isAtWork = false
    set(askedAt === null ? next : QUIET)
  }
  return {
    in(milliseconds) {
      askedAt ??= performance.now()
      if (!isAtWork && performance.now() - askedAt < PATIENCE) set(milliseconds)
    },
    close() {
      isOpen = false
      clearTimeout(timer)
    },
  }
}

interface Watchers {
  /** Listens to these folders, and no others. */
  watch(folders: FileStamps['folders']): void
}

function openWatchers(hint: () => void, failed: (message: string) => void): Watchers {
  const open = new Map<string, FSWatcher>()
  let isTold = false
  const fail = (error: unknown) => {
    if (!isTold) failed(error instanceof Error ? error.message : String(error))
    isTold = true
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
