import test from 'ava'
import type { Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Model } from '../../core/model/model.ts'
import { openWritingOver } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { modelOf } from '../model/compiled.ts'
import { type Chance, chance } from './edits/random.ts'
import {
  fillAtRandom,
  type Made,
  newProject,
  printShifting,
  readShown,
  type Shifting,
  type Shown,
  shift,
} from './edits/shifting.ts'

/** SHIFT_SEEDS=20 tries as many sequences of edits; SHIFT_SEED=7 that one. */
const FIRST = Number(process.env.SHIFT_SEED ?? 1)
const SEEDS = process.env.SHIFT_SEED === undefined ? Number(process.env.SHIFT_SEEDS ?? 1) : 1
const EDITS = 10

/** If drafts are turned on or off, the single version counts as both. */
function placeAfter(place: string, after: Shown): readonly string[] | undefined {
  return after.get(place) ?? after.get(place.replace(' draft ', ' published '))
}

/** Missing documents, translations, values and links, and their changed order. */
const lost = (before: Shown, after: Shown): readonly string[] =>
  [...before].flatMap(([place, values]) => {
    const now = placeAfter(place, after) ?? []
    const kept = now.filter(each => values.includes(each))
    return kept.join() === values.join() ? [] : [`${place}: ${values.join()} is ${now.join()}`]
  })

interface Turn {
  readonly database: Database
  readonly before: Shifting
  readonly made: Made
  readonly model: Model
}

/** Goes on with another project: unasked where nothing is lost by it, else at any cost. */
async function takeTurn({ database, before, made, model }: Turn, after: Shifting) {
  const next = await modelOf(printShifting(after))
  const { tables } = compileStorage(next)
  const shown = await readShown(openWritingOver(database, model), before, made)
  for (const allowing of ['slow', 'destructive'] as const) {
    const done = await migrate(database, tables, { allowing })
    if (!done.ok) continue
    const again = await planMigration(database, tables)
    const left = [
      ...again.steps.map(({ summary }) => summary),
      ...again.refusals.map(({ message }) => message),
    ]
    const now = await readShown(openWritingOver(database, next), after, made)
    return { draft: after, model: next, faults: [...left, ...(allowing === 'slow' ? lost(shown, now) : [])] }
  }
  const now = await readShown(openWritingOver(database, model), before, made)
  return { draft: before, model, faults: lost(shown, now) }
}

/** Documents removed with their type cannot be linked. */
async function forget(database: Database, model: Model, { types }: Shifting, made: Made): Promise<void> {
  const { find } = openWritingOver(database, model)
  for (const { key, localized } of types) {
    const there: string[] = []
    for (const id of made.get(key) ?? []) {
      const seen = await Promise.all(
        (localized ? ['en', 'fr'] : ['en']).map(locale => find(key, id, { status: 'draft', locale })),
      )
      if (seen.some(each => each !== null)) there.push(id)
    }
    made.set(key, there)
  }
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
  test.serial(
    `${EDITS} random changes of drafts, locales and relations lose nothing without confirmation (seed ${seed})`,
    async t => {
      const database = await openTestDatabase(t)
      const random: Chance = chance(seed)
      let draft = newProject(random)
      let model = await modelOf(printShifting(draft))
      await migrate(database, compileStorage(model).tables)
      const made: Made = new Map()
      for (let turn = 1; turn <= EDITS; turn += 1) {
        await fillAtRandom(openWritingOver(database, model), draft, made, random)
        const [words, after] = shift(draft, random)
        const done = await takeTurn({ database, before: draft, made, model }, after)
        t.deepEqual(done.faults, [], `shift ${turn}: ${words}`)
        if (done.faults.length > 0) return
        draft = done.draft
        model = done.model
        await forget(database, model, draft, made)
      }
    },
  )
}
