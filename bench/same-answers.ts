import assert from 'node:assert/strict'
import type { Running } from './process.ts'
import type { PlanRequest } from './rows.ts'

/** `others`: what the second is asked instead. */
export async function assertSameAnswers(
  asked: readonly PlanRequest[],
  [one, other]: readonly [Running, Running],
  others: readonly PlanRequest[] = asked,
): Promise<void> {
  for (const [index, { path, headers = {} }] of asked.slice(0, 5).entries()) {
    const answers = await Promise.all([
      fetch(one.base + path, { headers }).then(answer => answer.json()),
      fetch(other.base + path, { headers: others[index]?.headers ?? {} }).then(answer => answer.json()),
    ])
    assert.deepEqual(answers[0], answers[1], `${path} is answered differently`)
  }
}
