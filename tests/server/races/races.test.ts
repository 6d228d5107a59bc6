import test from 'ava'
import { ACTIONS, BEGINNINGS } from './actions.ts'
import { beginsAlike, type Pair, race, suits } from './race.ts'
import { DRAFTS, KINDS, type Kind, openWorld } from './world.ts'

/** Runs of two actions in all; RACE_ROUNDS asks for more, and RACE_SEED for others. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 400)
const SEED = Number(process.env.RACE_SEED ?? 1)

/** Numbers below 1, the same ones for the same seed (Park and Miller). */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

function randomPair(chance: () => number): Pair {
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(chance() * values.length)]
    if (value === undefined) throw new TypeError('Nothing to pick from')
    return value
  }
  const types = { kind: pick(Object.keys(KINDS) as Kind[]), drafts: pick(DRAFTS) }
  const actions = Object.keys(ACTIONS).filter(name => suits(name, types))
  const beginnings = Object.keys(BEGINNINGS).filter(name => !beginsAlike(name, types))
  return { ...types, beginning: pick(beginnings), first: pick(actions), second: pick(actions) }
}

test.serial(
  'two writes at once end as one after the other would, wherever the second comes between',
  async t => {
    const world = await openWorld(t)
    const chance = chances(SEED)
    let runs = 0
    const failures: string[] = []
    while (runs < ROUNDS) {
      const pair = randomPair(chance)
      for (const { statement, found, expected } of await race(world, pair, () => runs++))
        failures.push(
          [
            JSON.stringify(pair),
            `before statement ${statement}:`,
            found,
            'expected one of:',
            ...expected,
          ].join('\n'),
        )
    }
    t.log(`${runs} runs, ${failures.length} anomalies`)
    t.deepEqual(failures.slice(0, 20), [])
  },
)
