/** SQL for a value, if a condition holds; else null. Unlike AND, it never looks at the value before. */
export const whenever = (condition: string, value: string): string =>
  `CASE WHEN ${condition} THEN ${value} END`

/** How values of one type become values of another. */
export interface Cast {
  /** SQL for the new value; never an error: null where there is none. */
  readonly to: (value: string) => string
  /** SQL that holds for values that the new type keeps whole; null: for all. */
  readonly keeps: ((value: string) => string) | null
  /** Whether every row is written anew. */
  readonly rewrites: boolean
}

export const keepingAll = (to: Cast['to']): Cast => ({ to, keeps: null, rewrites: true })

export const keepingSome = (to: Cast['to'], keeps: (value: string) => string): Cast => ({
  to,
  keeps,
  rewrites: true,
})

/** The same bytes under another type. */
export const RELABELLED: Cast = { to: value => value, keeps: null, rewrites: false }
