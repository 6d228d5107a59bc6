/** A part of the content that was not converted. */
export interface Loss {
  /** Strapi's uid of the holder, and the attribute. */
  readonly of: string
  readonly why: string
}

/** Counts equal losses. */
export function countLosses(): {
  readonly lose: (loss: Loss) => void
  readonly texts: () => readonly string[]
} {
  const counts = new Map<string, number>()
  return {
    lose: ({ of, why }) => {
      const text = `${of}: ${why}`
      counts.set(text, (counts.get(text) ?? 0) + 1)
    },
    texts: () => [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`)),
  }
}
