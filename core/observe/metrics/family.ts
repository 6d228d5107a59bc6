/** Numbers of one name, as plain data: one process hands them to another. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /**
   * What several processes' numbers come to: their sum; the greatest of them, of what all of them see; or each by
   * itself, with a label `worker`.
   */
  readonly across: 'sum' | 'max' | 'each'
  readonly samples: readonly Sample[]
}

export interface Sample {
  /** `_bucket`, `_sum`, `_count` of histograms; else empty. */
  readonly suffix: string
  readonly labels: Labels
  readonly value: number
}

export type Labels = Readonly<Record<string, string>>

export type Head = Pick<Family, 'name' | 'help'>

/** A family of one number. */
export const gauge = (head: Head, across: Family['across'], value: number): Family => ({
  ...head,
  type: 'gauge',
  across,
  samples: [{ suffix: '', labels: {}, value }],
})

/** A family of numbers that one label tells apart. */
export const gauges = (
  head: Head,
  across: Family['across'],
  label: string,
  values: Readonly<Record<string, number>>,
): Family => ({
  ...head,
  type: 'gauge',
  across,
  samples: Object.entries(values).map(([name, value]) => ({ suffix: '', labels: { [label]: name }, value })),
})
