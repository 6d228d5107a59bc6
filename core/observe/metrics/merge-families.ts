import type { Family, Sample } from './family.ts'

/** The numbers of one worker. */
export interface OfWorker {
  readonly worker: number
  readonly families: readonly Family[]
}

/** Several workers' numbers as those of one server. */
export function mergeFamilies(all: readonly OfWorker[]): readonly Family[] {
  const merged = new Map<string, Family>()
  for (const { worker, families } of all)
    for (const family of families) {
      const own = family.across === 'each' ? labelled(family, worker) : family
      const before = merged.get(family.name)
      merged.set(family.name, before ? { ...before, samples: merge(before, own) } : own)
    }
  return [...merged.values()]
}

const labelled = (family: Family, worker: number): Family => ({
  ...family,
  samples: family.samples.map(sample => ({
    ...sample,
    labels: { worker: String(worker), ...sample.labels },
  })),
})

function merge({ across, samples }: Family, more: Family): readonly Sample[] {
  const byKey = new Map(samples.map(sample => [keyOf(sample), sample]))
  for (const sample of more.samples) {
    const before = byKey.get(keyOf(sample))
    const value = before ? combine(before.value, sample.value, across) : sample.value
    byKey.set(keyOf(sample), { ...sample, value })
  }
  return [...byKey.values()]
}

const combine = (a: number, b: number, across: Family['across']): number =>
  across === 'max' ? Math.max(a, b) : a + b

const keyOf = ({ suffix, labels }: Sample): string => `${suffix} ${JSON.stringify(labels)}`
