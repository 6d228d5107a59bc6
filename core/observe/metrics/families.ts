/** A Prometheus metric family as plain data, so that workers can send it to each other. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /**
   * How numbers of several workers are merged: their sum; their maximum, for values that all of them observe; or
   * separately, with a label `worker`.
   */
  readonly merge: 'sum' | 'max' | 'each'
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  /** `_bucket`, `_sum`, `_count` of histograms; else empty. */
  readonly suffix: string
  readonly labels: Labels
  readonly value: number
}

export type Labels = Readonly<Record<string, string>>

export type MetricHead = Pick<MetricFamily, 'name' | 'help'>

/** A gauge without labels. */
export const gauge = (head: MetricHead, across: MetricFamily['merge'], value: number): MetricFamily => ({
  ...head,
  type: 'gauge',
  merge: across,
  samples: [{ suffix: '', labels: {}, value }],
})

/** A gauge with one label. */
export const gauges = (
  head: MetricHead,
  across: MetricFamily['merge'],
  label: string,
  values: Readonly<Record<string, number>>,
): MetricFamily => ({
  ...head,
  type: 'gauge',
  merge: across,
  samples: Object.entries(values).map(([name, value]) => ({ suffix: '', labels: { [label]: name }, value })),
})

interface Counter {
  /** `values`: the label values, in the order of the labels. */
  add(values: readonly string[], by?: number): void
  read(): MetricFamily
}

/** Label values must come from closed sets. Those in `known` start at 0, so that the first increment shows as a change. */
export function openCounter(
  head: MetricHead,
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
      merge: 'sum',
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

interface Histogram {
  /** `of`: the label's value. */
  add(of: string, seconds: number): void
  read(): MetricFamily
}

/** Seconds. */
const BUCKET_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface BucketCounts {
  /** One count per bound (the first one that is not below the value), and one for values above all bounds. */
  readonly buckets: number[]
  sum: number
}

export function openHistogram(head: MetricHead, label: string): Histogram {
  const all = new Map<string, BucketCounts>()
  return {
    add(of, seconds) {
      const counts = all.get(of) ?? { buckets: new Array<number>(BUCKET_BOUNDS.length + 1).fill(0), sum: 0 }
      all.set(of, counts)
      const above = BUCKET_BOUNDS.findIndex(bound => seconds <= bound)
      const at = above < 0 ? BUCKET_BOUNDS.length : above
      counts.buckets[at] = (counts.buckets[at] ?? 0) + 1
      counts.sum += seconds
    },
    read: () => ({
      ...head,
      type: 'histogram',
      merge: 'sum',
      samples: Array.from(all, ([of, counts]) => samplesOf({ [label]: of }, counts)).flat(),
    }),
  }
}

/** Buckets are cumulative in the exposition format. */
function samplesOf(labels: MetricSample['labels'], { buckets, sum }: BucketCounts): readonly MetricSample[] {
  let total = 0
  const bounded = buckets.map((count, at): MetricSample => {
    total += count
    return { suffix: '_bucket', labels: { ...labels, le: String(BUCKET_BOUNDS[at] ?? '+Inf') }, value: total }
  })
  return [...bounded, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }]
}
