import { withTimeout } from '../base/with-timeout.ts'

/** Work that is done once at a time. */
export interface OneAtATime<About> {
  /**
   * Has it done; asked while it is being done, once more after that, for all who asked meanwhile. Whether it came to
   * something.
   */
  ask(about: readonly About[]): Promise<boolean>
  /** Does nothing more. Resolves when what is being done has ended, or so many milliseconds have passed. */
  end(milliseconds: number): Promise<void>
}

/** `work` never rejects. */
export function oneAtATime<About>(work: (about: readonly About[]) => Promise<boolean>): OneAtATime<About> {
  let running = Promise.resolve(false)
  let next: { readonly about: Set<About>; readonly done: Promise<boolean> } | null = null
  let isOver = false
  return {
    ask(about) {
      if (next === null) {
        const asked = new Set<About>()
        running = running.then(async () => {
          next = null
          return !isOver && work([...asked])
        })
        next = { about: asked, done: running }
      }
      for (const one of about) next.about.add(one)
      return next.done
    },
    async end(milliseconds) {
      isOver = true
      await withTimeout(milliseconds, running, false)
    },
  }
}
