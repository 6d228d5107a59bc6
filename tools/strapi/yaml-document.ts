import type { Path } from '../../core/faults/diagnostic.ts'
import type { Json } from '../../core/project/settings/settings.ts'

/** A project file that is being written: keys in their order, with what is to be said beside them. */
export interface Block {
  readonly kind: 'block'
  readonly entries: readonly Entry[]
  /** Said behind the last entry. */
  readonly closing: readonly string[]
}

export interface Entry {
  readonly key: string
  readonly value: Block | Flow | Variable
  /** Said above it. */
  readonly notes: readonly string[]
}

/** A value that stands on the line of its key where it fits there. */
export interface Flow {
  readonly kind: 'flow'
  readonly json: Json
}

/** `${NAME:-fallback}`. */
export interface Variable {
  readonly kind: 'variable'
  readonly name: string
  readonly fallback: string
}

export const block = (entries: readonly (Entry | undefined)[], closing: readonly string[] = []): Block => ({
  kind: 'block',
  entries: entries.filter(entry => entry !== undefined),
  closing,
})

export const entry = (key: string, value: Entry['value'], notes: readonly string[] = []): Entry => ({
  key,
  value,
  notes,
})

/** An entry for what there is; nothing for what is undefined. */
export const flow = (
  key: string,
  json: Json | undefined,
  notes: readonly string[] = [],
): Entry | undefined => (json === undefined ? undefined : entry(key, { kind: 'flow', json }, notes))

/** A section, or nothing where there is nothing to say in it. */
export const section = (
  key: string,
  entries: readonly (Entry | undefined)[],
  notes: readonly string[] = [],
): Entry | undefined => {
  const inner = block(entries)
  return inner.entries.length + notes.length === 0 ? undefined : entry(key, inner, notes)
}

/** Something that is said, and of what. */
export interface Remark {
  readonly path: Path
  readonly text: string
}

/** All that is said, in order. */
export function* remarksOf(sheet: Block, path: Path = []): Generator<Remark> {
  for (const { key, value, notes } of sheet.entries) {
    const here = [...path, key]
    for (const text of notes) yield { path: here, text }
    if (value.kind === 'block') yield* remarksOf(value, here)
  }
  for (const text of sheet.closing) yield { path, text }
}
