import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { readHistory } from '../../core/migrate/recorded-schema.ts'
import { storageOf } from '../model/compiled.ts'
import { type Draft, edit, newType, print } from './edits/draft.ts'
import { type Chance, chance } from './edits/random.ts'
import { type Contents, meaningOf, read, write } from './edits/rows.ts'
import { type SchemaCase, schemaCase } from './schema-case.ts'

/** SCHEMA_SEEDS=40 tries as many sequences of edits; SCHEMA_SEED=7 that one. */
const FIRST = Number(process.env.SCHEMA_SEED ?? 1)
const SEEDS = process.env.SCHEMA_SEED === undefined ? Number(process.env.SCHEMA_SEEDS ?? 2) : 1
const EDITS = 14

/** Values that are missing or changed; empty ones may have been filled. */
function lost(before: Contents, after: Contents): readonly string[] {
  return [...before].flatMap(([type, documents]) =>
    [...documents].flatMap(([document, values]) =>
      [...values].flatMap(([attribute, value]) => {
        const now = after.get(type)?.get(document)?.get(attribute)
        if (value === null || (now != null && meaningOf(now) === meaningOf(value))) return []
        return [`${type} ${document} ${attribute}: ${JSON.stringify(value)} is ${JSON.stringify(now)}`]
      }),
    ),
  )
}

interface Turn {
  readonly one: SchemaCase
  readonly before: Draft
  readonly after: Draft
}

/** Applies an edit, at any cost where `destructive`. Answers what went wrong; null: it was refused. */
async function apply({ one, before, after }: Turn, allowing: 'slow' | 'destructive') {
  const { tables } = await storageOf(print(after))
  const contents = await read(one, before)
  // Runs `plinth plan`, then `plinth migrate`, with --allow-destructive if the plan requires it.
  const { steps } = await planMigration(one.database, tables)
  const done = await migrate(one.database, tables, { allowing, stage: 'all' })
  if (!done.ok) return lost(contents, await read(one, before)).length === 0 ? null : ['a refusal lost values']
  const again = await planMigration(one.database, tables)
  const faults = [
    ...again.steps.map(({ summary }) => `still to do: ${summary}`),
    ...again.refusals.map(({ message }) => `still refused: ${message}`),
    ...differences(
      steps.map(({ summary }) => summary),
      done.value.steps,
    ),
    ...(await readHistory(one.database))
      .filter(past => past.steps.length === 0)
      .map(({ id }) => `migration ${id} has no steps`),
  ]
  return allowing === 'slow' ? [...faults, ...lost(contents, await read(one, after))] : faults
}

function differences(planned: readonly string[], did: readonly string[]): readonly string[] {
  const [words, others] = [planned, did].map(steps => steps.join('; '))
  return words === others ? [] : [`planned: ${words}, did: ${others}`]
}

/**
 * Runs `plinth migrate --dry-run --expand`, then `plinth migrate --expand`. Answers what went wrong: it must do what was
 * planned, be refused if and only if the plan says so, and lose nothing that the older version reads.
 */
async function expand({ one, before, after }: Turn): Promise<readonly string[]> {
  const { tables } = await storageOf(print(after))
  const contents = await read(one, before)
  const planned = await planMigration(one.database, tables, { stage: 'expand' })
  const [first] = planned.refusals
  const isAllowed = first === undefined && planned.steps.every(({ weight }) => weight !== 'destructive')
  const done = await migrate(one.database, tables, { allowing: 'slow', stage: 'expand' })
  const kept = lost(contents, await read(one, before))
  if (!done.ok || !isAllowed) {
    const answers = done.ok ? 'done' : done.reasons.map(({ message }) => message).join('; ')
    return done.ok === isAllowed ? kept : [`planned: ${first?.message ?? isAllowed}, but ${answers}`, ...kept]
  }
  const again = await planMigration(one.database, tables, { stage: 'expand' })
  return [
    ...kept,
    ...differences(
      planned.steps.map(({ summary }) => summary),
      done.value.steps,
    ),
    ...again.steps.map(({ summary }) => `still to expand: ${summary}`),
  ]
}

async function takeTurn(turn: Turn): Promise<{ readonly draft: Draft; readonly faults: readonly string[] }> {
  for (const allowing of ['slow', 'destructive'] as const) {
    const faults = await apply(turn, allowing)
    if (faults !== null) return { draft: turn.after, faults }
  }
  return { draft: turn.before, faults: [] }
}

async function fill(one: SchemaCase, { types }: Draft, random: Chance): Promise<void> {
  for (const type of types) for (let row = random.below(3); row > 0; row -= 1) await write(one, type, random)
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
  test.serial(
    `${EDITS} random edits of a project lose no value without confirmation (seed ${seed})`,
    async t => {
      const one = await schemaCase(t)
      const random = chance(seed)
      let draft: Draft = { types: [newType(random), newType(random)] }
      await one.started(print(draft))
      for (let turn = 1; turn <= EDITS; turn += 1) {
        await fill(one, draft, random)
        const [words, after] = edit(draft, random)
        const edited = { one, before: draft, after }
        const expanding = turn % 2 === 0 ? await expand(edited) : []
        t.deepEqual(expanding, [], `edit ${turn} with --expand: ${words}`)
        const done = await takeTurn(edited)
        t.deepEqual(done.faults, [], `edit ${turn}: ${words}`)
        if (done.faults.length > 0) return
        draft = done.draft
      }
    },
  )
}
