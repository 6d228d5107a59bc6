import test from 'ava'
import { ACTIONS, BEGINNINGS } from './actions.ts'
import { type Anomaly, areBothImports, beginsAlike, isPossible, type Pair, race, suits } from './race.ts'
import { KINDS, type Kind, openWorld, SHAPES, type Shape, type World } from './world.ts'

/** Runs of two actions in all; RACE_ROUNDS asks for more, and RACE_SEED for others. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 300)
const SEED = Number(process.env.RACE_SEED ?? 1)

/** Numbers below 1, the same ones for the same seed (Park and Miller). */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

function randomPair(chance: () => number, shape: Shape): Pair {
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(chance() * values.length)]
    if (value === undefined) throw new TypeError('Nothing to pick from')
    return value
  }
  const kind = pick(Object.keys(KINDS) as Kind[])
  const types = { kind, shape }
  const actions = Object.keys(ACTIONS).filter(name => suits(name, types))
  const beginnings = Object.keys(BEGINNINGS).filter(name => !beginsAlike(name, types))
  const first = pick(actions)
  const second = pick(actions.filter(name => !areBothImports(first, name)))
  return { kind, beginning: pick(beginnings), first, second }
}

const describe = ({ shape }: World, { pair, statements, found, expected }: Anomaly): string =>
  [
    JSON.stringify({ shape, ...pair }),
    `before statement ${statements.join(', ')}:`,
    found,
    'expected one of:',
    ...expected,
  ].join('\n')

/** Pairs that once lost links: always run, whatever the seed picks. */
const KNOWN: readonly (readonly [first: string, second: string])[] = [
  ['target update of another attribute', 'owner create with a link'],
  ['target update of another attribute', 'owner connect'],
  ['target publish', 'owner connect'],
  ['target clear', 'owner connectSecond'],
]

for (const kind of ['oneToOne', 'manyToOne', 'manyToMany'] as const)
  test.serial(`links written while their target is published are kept: ${kind}`, async t => {
    const world = await openWorld(t, 'both')
    const failures: string[] = []
    for (const beginning of ['no link', 'linked'])
      for (const [one, other] of KNOWN)
        for (const [first, second] of [[one, other] as const, [other, one] as const])
          for (const anomaly of await race(world, { kind, beginning, first, second }, () => {}))
            failures.push(describe(world, anomaly))
    t.deepEqual(failures.slice(0, 20), [])
  })

/** Pairs that once failed, or ended as neither order would. */
const ONCE_WRONG: Readonly<Partial<Record<Shape, readonly Pair[]>>> = {
  both: [
    {
      kind: 'toOne',
      beginning: 'linked, and the owner is a draft',
      first: 'owner setSecond',
      second: 'owner import of another draft',
    },
    {
      kind: 'toOne',
      beginning: 'linked, and the owner is a draft',
      first: 'owner publish',
      second: 'owner delete',
    },
    {
      kind: 'manyToOne',
      beginning: 'linked, and the owner is a draft',
      first: 'owner publish',
      second: 'owner GraphQL update of another attribute',
    },
  ],
  owner: [
    {
      kind: 'oneToOne',
      beginning: 'linked in the published version alone',
      first: 'owner connect',
      second: 'owner import of a new document',
    },
    {
      kind: 'toOne',
      beginning: 'linked',
      first: 'owner import of another draft with a link',
      second: 'owner GraphQL delete',
    },
  ],
  localized: [
    {
      kind: 'toMany',
      beginning: 'no link',
      first: 'owner content in the draft',
      second: 'owner translate',
    },
    {
      kind: 'toMany',
      beginning: 'no link',
      first: 'owner update of another attribute in the draft',
      second: 'owner translate',
    },
    {
      kind: 'toMany',
      beginning: 'no link',
      first: 'owner delete of all locales',
      second: 'owner translate in the draft',
    },
    {
      kind: 'oneToOne',
      beginning: 'linked to both',
      first: 'owner content in the draft',
      second: 'owner import of a new document',
    },
  ],
}

for (const [shape, pairs] of Object.entries(ONCE_WRONG) as [Shape, readonly Pair[]][])
  test.serial(`rows inserted by a concurrent write are seen: ${shape}`, async t => {
    const world = await openWorld(t, shape)
    const failures: string[] = []
    for (const pair of pairs)
      for (const [first, second] of [
        [pair.first, pair.second],
        [pair.second, pair.first],
      ] as const)
        for (const anomaly of await race(world, { ...pair, first, second }, () => {}))
          failures.push(describe(world, anomaly))
    t.deepEqual(failures, [])
  })

/** Each of the first actions is refused after one of the second. */
const CONDITIONED: readonly (readonly [first: string, second: string])[] = [
  ['owner update under a condition', 'owner update of another attribute'],
  ['owner delete under a condition', 'owner update of another attribute'],
  ['owner connect under a condition', 'owner update of another attribute'],
  ['owner connect under a condition', 'owner disconnect'],
  ['owner connect under a condition', 'target update of another attribute'],
  ['owner connect under a condition', 'target delete'],
]

for (const shape of ['both', 'neither'] as const)
  test.serial(`conditions hold for what a concurrent write left: ${shape}`, async t => {
    const world = await openWorld(t, shape)
    const failures: string[] = []
    for (const [first, second] of CONDITIONED)
      for (const kind of ['manyToOne', 'manyToMany'] as const)
        for (const anomaly of await race(world, { kind, beginning: 'linked', first, second }, () => {}))
          failures.push(describe(world, anomaly))
    t.deepEqual(failures, [])
  })

/** Writes of links that once stayed although their target was deleted. */
const LINKING: readonly string[] = [
  'owner connect',
  'owner create with a link',
  'owner publish',
  'owner discardDraft',
  'owner update of another attribute',
  'owner import of a new document',
]

for (const shape of ['both', 'neither'] as const)
  test.serial(`no link leads to a target that is deleted meanwhile: ${shape}`, async t => {
    const world = await openWorld(t, shape)
    const failures: string[] = []
    for (const pair of deletionsOf(shape))
      for (const anomaly of await race(world, pair, () => {})) failures.push(describe(world, anomaly))
    t.deepEqual(failures, [])
  })

function* deletionsOf(shape: Shape): Generator<Pair> {
  const beginnings = ['no link', 'linked in the draft alone', 'linked in the published version alone']
  for (const kind of ['manyToOne', 'toMany'] as const)
    for (const beginning of beginnings.filter(each => !beginsAlike(each, { kind, shape })))
      for (const name of LINKING.filter(each => suits(each, { kind, shape }))) {
        yield { kind, beginning, first: name, second: 'target delete' }
        yield { kind, beginning, first: 'target delete', second: name }
      }
}

test.serial('every action of the race tests succeeds alone', async t => {
  const failures: string[] = []
  await Promise.all(
    SHAPES.map(async shape => {
      const world = await openWorld(t, shape)
      for (const kind of Object.keys(KINDS) as Kind[])
        for (const name of Object.keys(ACTIONS).filter(each => suits(each, { kind, shape })))
          if (!(await isPossible(world, kind, name))) failures.push(`${shape} ${kind} ${name}`)
    }),
  )
  t.deepEqual(failures, [])
})

test.serial('two concurrent writes are serializable, for any interleaving', async t => {
  let runs = 0
  const failures: string[] = []
  const inWorld = async (world: World, chance: () => number) => {
    while (runs < ROUNDS)
      for (const anomaly of await race(world, randomPair(chance, world.shape), () => runs++))
        failures.push(describe(world, anomaly))
  }
  const worlds = await Promise.all(SHAPES.map(shape => openWorld(t, shape)))
  await Promise.all(worlds.map((world, index) => inWorld(world, chances(SEED * SHAPES.length + index))))
  t.log(`${runs} runs, ${failures.length} anomalies`)
  t.deepEqual(failures.slice(0, 20), [])
})
