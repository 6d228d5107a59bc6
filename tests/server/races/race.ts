import { setTimeout as pause } from 'node:timers/promises'
import { ACTIONS, BEGINNINGS } from './actions.ts'
import {
  ask,
  type Cast,
  hasDrafts,
  type Instance,
  type Kind,
  pathOf,
  readState,
  type Side,
  type World,
} from './world.ts'

/** Two actions on the same documents, what was there before them, and the types that they belong to. */
export interface Pair {
  readonly kind: Kind
  readonly beginning: string
  readonly first: string
  readonly second: string
}

/** A run of both that equals neither order of them. */
export interface Anomaly {
  readonly pair: Pair
  /** The first action waited before one of these statements while the second ran. */
  readonly statements: readonly number[]
  readonly found: string
  readonly expected: readonly string[]
}

let rounds = 0

/**
 * Runs the second action whole between any two statements of the first, and compares what is there afterwards, and what
 * both answered, with both orders of them one after the other. `observe` hears of every run.
 */
export async function race(world: World, pair: Pair, observe: () => void): Promise<readonly Anomaly[]> {
  const expected = [await inOrder(world, pair, false), await inOrder(world, pair, true)]
  const anomalies = new Map<string, number[]>()
  for (let statement = 1; ; statement++) {
    const { found, isOver } = await interleaved(world, pair, statement)
    observe()
    if (!expected.includes(found)) anomalies.set(found, [...(anomalies.get(found) ?? []), statement])
    if (isOver) break
  }
  return [...anomalies].map(([found, statements]) => ({ pair, statements, found, expected }))
}

async function inOrder(world: World, pair: Pair, isSwapped: boolean): Promise<string> {
  const cast = await begin(world, pair)
  const run = (name: string) => perform(name, world.free, cast)
  if (isSwapped) {
    const second = await run(pair.second)
    return outcome([await run(pair.first), second], await readState(world, cast))
  }
  const first = await run(pair.first)
  return outcome([first, await run(pair.second)], await readState(world, cast))
}

async function interleaved(
  world: World,
  pair: Pair,
  statement: number,
): Promise<{ readonly found: string; readonly isOver: boolean }> {
  const cast = await begin(world, pair)
  const armed = world.gate.arm(statement)
  const first = perform(pair.first, world.held, cast)
  const isOver = await Promise.race([first.then(() => true), armed.reached.then(() => false)])
  const second = perform(pair.second, world.free, cast)
  await untilDoneOrWaiting(second, world)
  armed.release()
  const answers = await Promise.all([first, second])
  return { found: outcome(answers, await readState(world, cast)), isOver }
}

/** True if an action applies to one of the initial states without other writes. */
export async function isPossible(world: World, kind: Kind, name: string): Promise<boolean> {
  for (const beginning of Object.keys(BEGINNINGS))
    if ((await perform(name, world.free, await begin(world, { kind, beginning }))) === 'done') return true
  return false
}

/** The second action may need a lock that the first one holds. */
async function untilDoneOrWaiting(action: Promise<unknown>, world: World): Promise<void> {
  let isDone = false
  const done = action.then(() => {
    isDone = true
  })
  while (!isDone) {
    await Promise.race([done, pause(3)])
    if (!isDone && (await world.waiting()) > 0) return
  }
}

const outcome = (done: readonly string[], state: string): string => `${done.join(', ')}\n${state}`

/** How it ended: `done`, `refused`, or the failure, which equals that of no order. */
async function perform(name: string, instance: Instance, cast: Cast): Promise<string> {
  try {
    return (await ACTIONS[name]?.run(instance, cast)) ? 'done' : 'refused'
  } catch (error) {
    return String(error)
  }
}

/** Makes and publishes the documents of a round, and brings them to where the pair begins. */
async function begin(world: World, { kind, beginning }: Pick<Pair, 'kind' | 'beginning'>): Promise<Cast> {
  const { shape } = world
  const round = `r${++rounds}`
  const make = async (side: Side, label: string) => {
    const { status, body } = await ask(world.free, 'POST', pathOf(side), { label, round, n: 0 })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return (body as { data: { documentId: string } }).data.documentId
  }
  const [owner, otherOwner, target, otherTarget] = await Promise.all([
    make('owner', 'owner'),
    make('owner', 'other owner'),
    make('target', 'target'),
    make('target', 'other target'),
  ])
  const cast: Cast = { kind, shape, round, owner, otherOwner, target, otherTarget }
  for (const name of BEGINNINGS[beginning] ?? [])
    if (suits(name, { shape, kind })) await perform(name, world.free, cast)
  return cast
}

/** The later one of two concurrent imports takes over; the other one is refused, as documented. */
export const areBothImports = (first: string, second: string): boolean =>
  [first, second].every(name => ACTIONS[name]?.isImport)

export function suits(name: string, types: Pick<Cast, 'shape' | 'kind'>): boolean {
  const action = ACTIONS[name]
  if (!action) throw new TypeError(`There is no action ${name}`)
  return action.suits?.(types) ?? true
}

/** A beginning that equals an earlier one for these types adds nothing. */
export function beginsAlike(name: string, { shape }: Pick<Cast, 'shape' | 'kind'>): boolean {
  if (/translated/.test(name)) return shape !== 'localized'
  const needsOwnerDrafts = /draft alone|published version alone|owner is a draft/.test(name)
  if (needsOwnerDrafts) return !hasDrafts(shape, 'owner')
  return /target is a draft/.test(name) && !hasDrafts(shape, 'target')
}
