import type { Family, Head, Sample } from './family.ts'

export interface Histogram {
  /** `of`: the value of its label; seconds. */
  add(of: string, seconds: number): void
  read(): Family
}

/** Seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Counts {
  /** By the first bound that is not below; the last: none is. */
  readonly buckets: number[]
  sum: number
}

export function openHistogram(head: Head, label: string): Histogram {
  const all = new Map<string, Counts>()
  return {
    add(of, seconds) {
      const counts = all.get(of) ?? { buckets: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 }
      all.set(of, counts)
      const above = BOUNDS.findIndex(bound => seconds <= bound)
      const at = above < 0 ? BOUNDS.length : above
      counts.buckets[at] = (counts.buckets[at] ?? 0) + 1
      counts.sum += seconds
    },
    read: () => ({
      ...head,
      type: 'histogram',
      across: 'sum',
      samples: Array.from(all, ([of, counts]) => samplesOf({ [label]: of }, counts)).flat(),
    }),
  }
}

/** Buckets of the format hold all that is below, too. */
function samplesOf(labels: Sample['labels'], { buckets, sum }: Counts): readonly Sample[] {
  let total = 0
  const bounded = buckets.map((count, at): Sample => {
    total += count
    return { suffix: '_bucket', labels: { ...labels, le: String(BOUNDS[at] ?? '+Inf') }, value: total }
  })
  return [...bounded, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }]
}
