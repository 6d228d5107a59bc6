import test from 'ava'
import type { Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import type { Risk, SchemaRefusal } from '../../core/migrate/schema/finding.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Table } from '../../core/model/storage.ts'
import { openWritingOver } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { modelOf } from '../model/compiled.ts'
import { editRules } from './edits/edit-rules.ts'
import { chance } from './edits/random.ts'
import { lostOf, readRuled, type Seen, type Written, writeRuled } from './edits/ruled-documents.ts'
import { newRuled, printRuled } from './edits/rules.ts'

/** RULE_SEEDS=40 tries as many sequences of edits; RULE_SEED=7 that one; RULE_EDITS=16 longer ones. */
const FIRST = Number(process.env.RULE_SEED ?? 1)
const SEEDS = process.env.RULE_SEED === undefined ? Number(process.env.RULE_SEEDS ?? 1) : 1
const EDITS = Number(process.env.RULE_EDITS ?? 10)

/** One line for each column, constraint, index and trigger. PostgreSQL 18 has NOT NULL as a constraint, too, under a name of its own. */
const OBJECTS = `
  SELECT concat_ws(' ', table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default, is_identity)
  FROM information_schema.columns WHERE table_schema = current_schema()
  UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
  FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
  UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`

const objectsOf = async (database: Database): Promise<readonly string[]> =>
  (await database.run({ text: OBJECTS, values: [] })).rows.map(([line]) => String(line))

/** What the migrated database lacks of a new one. */
async function missing(database: Database, empty: Database, tables: readonly Table[]) {
  const run = (text: string) => empty.run({ text, values: [] })
  await run(`DROP SCHEMA ${empty.schema} CASCADE`)
  await run(`CREATE SCHEMA ${empty.schema}`)
  const created = await migrate(empty, tables)
  if (!created.ok) return messagesOf(created.reasons)
  const there = new Set(await objectsOf(database))
  return (await objectsOf(empty)).filter(line => !there.has(line)).map(line => `missing: ${line}`)
}

const messagesOf = (refusals: readonly SchemaRefusal[]): readonly string[] =>
  refusals.map(({ message }) => message).toSorted()

/** Words of PostgreSQL's own errors. */
const RAW = /violates|duplicate key|null value in column|invalid input|syntax error|does not exist/i

/** What only the migration can find: docs/redeploy.md, `not-unique`. */
const UNPLANNED = /^rows of table "components_\w+" would share a value that must be unique \(index /

interface Outcome {
  /** What had to be allowed; null: the edit was refused at any cost. */
  readonly allowing: Risk | null
  readonly faults: readonly string[]
}

/**
 * Runs `plinth plan`, then `plinth migrate`, with --allow-destructive if it must be. It does what was planned: a loss that the plan
 * does not name is a fault, and so is a refusal that changes something.
 */
async function apply(
  database: Database,
  tables: readonly Table[],
  read: () => Promise<Seen>,
): Promise<Outcome> {
  const plan = await planMigration(database, tables)
  const losses = plan.steps.filter(({ weight }) => weight === 'destructive').map(({ summary }) => summary)
  const [seen, objects] = [await read(), await objectsOf(database)]
  for (const allowing of ['slow', 'destructive'] as const) {
    const done = await migrate(database, tables, { allowing, stage: 'all' })
    if (done.ok)
      return { allowing, faults: allowing === 'slow' ? losses.map(loss => `done unasked: ${loss}`) : [] }
    const messages = messagesOf(done.reasons)
    const planned = messagesOf(plan.refusals)
    const faults = [
      ...messages.filter(message => RAW.test(message)),
      ...(losses.length === 0 || allowing === 'destructive' ? messages : [])
        .filter(message => !planned.includes(message) && !UNPLANNED.test(message))
        .map(message => `not planned: ${message}`),
      ...(await objectsOf(database))
        .filter(line => !objects.includes(line))
        .map(line => `refused, but: ${line}`),
      ...lostOf(seen, await read()).map(each => `refused, but: ${each}`),
    ]
    if (faults.length > 0) return { allowing, faults }
  }
  return { allowing: null, faults: [] }
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
  test.serial(
    `${EDITS} random edits of rules lose nothing that the plan does not name (seed ${seed})`,
    async t => {
      const [database, empty] = [await openTestDatabase(t), await openTestDatabase(t)]
      const random = chance(seed)
      let draft = newRuled(random)
      let model = await modelOf(printRuled(draft))
      await migrate(database, compileStorage(model).tables)
      const written: Written = new Map()
      for (let turn = 1; turn <= EDITS; turn += 1) {
        const [writing, before] = [openWritingOver(database, model), draft]
        t.deepEqual(await writeRuled(writing, before, written, random), [], `writes before edit ${turn}`)
        const [words, after] = editRules(before, random)
        const next = await modelOf(printRuled(after)).catch(() => null)
        // The project file itself is refused, such as two values that exchange their names.
        if (next === null) continue
        const { tables } = compileStorage(next)
        const seen = await readRuled(writing, before, written)
        const { allowing, faults } = await apply(database, tables, () => readRuled(writing, before, written))
        t.deepEqual(faults, [], `edit ${turn}: ${words}`)
        if (allowing === null) continue
        const again = await planMigration(database, tables)
        const now = await readRuled(openWritingOver(database, next), after, written)
        const left = [
          ...again.steps.map(({ summary }) => `still to do: ${summary}`),
          ...messagesOf(again.refusals),
          ...(allowing === 'slow' ? lostOf(seen, now) : []),
          ...(await missing(database, empty, tables)),
        ]
        t.deepEqual(left, [], `edit ${turn}: ${words}`)
        draft = after
        model = next
      }
    },
  )
}
