import type { Family, Head } from './family.ts'

export interface Counter {
  /** By the values of its labels, in their order. */
  add(values: readonly string[], by?: number): void
  read(): Family
}

/** `labels`: of closed sets. Those in `known` are there from the beginning, so that a first one shows as a change. */
export function openCounter(
  head: Head,
  labels: readonly string[],
  known: readonly (readonly string[])[] = [],
): Counter {
  const counts = new Map<string, number>(known.map(values => [values.join('\n'), 0]))
  return {
    add(values, by = 1) {
      const key = values.join('\n')
      counts.set(key, (counts.get(key) ?? 0) + by)
    },
    read: () => ({
      ...head,
      type: 'counter',
      across: 'sum',
      samples: Array.from(counts, ([key, value]) => {
        const values = key.split('\n')
        return {
          suffix: '',
          labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
          value,
        }
      }),
    }),
  }
}
