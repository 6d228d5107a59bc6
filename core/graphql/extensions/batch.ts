/** Work for many at once: what is asked for in one turn is done together. */
export interface Batch<Key, Value> {
  load(key: Key): Promise<Value>
}

interface Waiting<Key, Value> {
  readonly key: Key
  readonly done: (value: Value) => void
  readonly failed: (error: unknown) => void
}

/** `work` answers as many values as it is given keys, in their order. */
export function openBatch<Key, Value>(
  work: (keys: readonly Key[]) => Promise<readonly Value[]>,
): Batch<Key, Value> {
  let waiting: Waiting<Key, Value>[] = []
  async function run(): Promise<void> {
    const all = waiting
    waiting = []
    try {
      const values = await work(all.map(({ key }) => key))
      for (const [index, { done }] of all.entries()) done(values[index] as Value)
    } catch (error) {
      for (const { failed } of all) failed(error)
    }
  }
  return {
    load: key =>
      new Promise((done, failed) => {
        // After all that the promises of this turn lead to has asked, too.
        if (waiting.length === 0) Promise.resolve().then(() => process.nextTick(() => void run()))
        waiting.push({ key, done, failed })
      }),
  }
}
