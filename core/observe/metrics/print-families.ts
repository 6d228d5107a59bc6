import type { Labels, MetricFamily, MetricSample } from './families.ts'

/** The media type of Prometheus's text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const printFamilies = (families: readonly MetricFamily[]): string =>
  families
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(each => printSample(name, each)),
        '',
      ].join('\n'),
    )
    .join('')

const printSample = (name: string, { suffix, labels, value }: MetricSample): string =>
  `${name}${suffix}${printLabels(labels)} ${value}`

function printLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** The metric families of one worker. */
export interface WorkerFamilies {
  readonly worker: number
  readonly families: readonly MetricFamily[]
}

/** Merges the families of several workers. */
export function mergeFamilies(all: readonly WorkerFamilies[]): readonly MetricFamily[] {
  const merged = new Map<string, MetricFamily>()
  for (const { worker, families } of all)
    for (const family of families) {
      const own = family.merge === 'each' ? labelled(family, worker) : family
      const before = merged.get(family.name)
      merged.set(family.name, before ? { ...before, samples: mergeSamples(before, own) } : own)
    }
  return [...merged.values()]
}

const labelled = (family: MetricFamily, worker: number): MetricFamily => ({
  ...family,
  samples: family.samples.map(sample => ({
    ...sample,
    labels: { worker: String(worker), ...sample.labels },
  })),
})

function mergeSamples({ merge: across, samples }: MetricFamily, more: MetricFamily): readonly MetricSample[] {
  const byKey = new Map(samples.map(sample => [sampleKey(sample), sample]))
  for (const sample of more.samples) {
    const before = byKey.get(sampleKey(sample))
    const value = before ? combine(before.value, sample.value, across) : sample.value
    byKey.set(sampleKey(sample), { ...sample, value })
  }
  return [...byKey.values()]
}

const combine = (a: number, b: number, across: MetricFamily['merge']): number =>
  across === 'max' ? Math.max(a, b) : a + b

const sampleKey = ({ suffix, labels }: MetricSample): string => `${suffix} ${JSON.stringify(labels)}`
