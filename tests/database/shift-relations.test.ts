import test, { type ExecutionContext } from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { type MigrationPlan, planMigration } from '../../core/migrate/plan-migration.ts'
import { RISKS } from '../../core/migrate/schema/finding.ts'
import type { Row } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'
import { type RelationRow, readRelations, type Sides } from './relations-page.ts'
import { type Stage, stage } from './shift-case.ts'

const rows = readRelations()

const attribute = (name: string, declared: string | null, target: string): string => {
  if (declared === null) return ''
  const own = declared.includes('target:') ? declared : `${declared}, target: ${target}`
  return `, ${name}: { type: relation, relation: ${own} }`
}

interface Versions {
  readonly book: string
  readonly tag: string
}

/** A book and a tag for each row. */
const project = ({ book, tag }: Versions, sides: (row: RelationRow) => Sides) => {
  const types = rows.flatMap((row, index) => {
    const { x, y } = sides(row)
    return [
      `  book${index}: { ${book} attributes: { name: string${attribute('x', x, `tag${index}`)} } }`,
      `  tag${index}: { ${tag} attributes: { name: string${attribute('y', y, `book${index}`)} } }`,
    ]
  })
  const i18n = 'i18n: { defaultLocale: en, locales: [en, fr] }'
  return `${i18n}\ncontentTypes:\n  other: { attributes: { name: string } }\n${types.join('\n')}\n`
}

/** The link targets of a document of these names. */
const partners = (links: readonly string[], name: string): readonly string[] =>
  links.flatMap(link => {
    const [book = '', tag = ''] = link.split('-')
    return book === name ? [tag] : tag === name ? [book] : []
  })

type Ids = ReadonlyMap<string, unknown>

async function fill(one: Stage, row: RelationRow): Promise<Ids> {
  const index = rows.indexOf(row)
  const ids = new Map<string, unknown>()
  for (const name of ['t1', 't2', 'b1', 'b2']) {
    const key = name.startsWith('b') ? `book${index}` : `tag${index}`
    ids.set(name, (await one.create(key, { name })).documentId)
  }
  const [key, side, own] = row.before.x === null ? ['tag', 'y', ['t1', 't2']] : ['book', 'x', ['b1', 'b2']]
  for (const name of own) {
    const targets = partners(row.links, name).map(target => ids.get(target))
    if (targets.length > 0)
      await one.update(`${key}${index}`, ids.get(name), { [String(side)]: toBody(row, targets) })
  }
  return ids
}

/** One id for what takes one, as a form would send it. */
const toBody = ({ before }: RelationRow, targets: readonly unknown[]): unknown =>
  /^\w+ToOne/.test(before.x ?? before.y ?? '') ? targets[0] : targets

/** The links as one side shows them, its documents in order. */
async function linksOf(
  one: Stage,
  row: RelationRow,
  ids: Ids,
  side: 'x' | 'y',
  status: 'draft' | 'published',
) {
  const key = `${side === 'x' ? 'book' : 'tag'}${rows.indexOf(row)}`
  const found: string[] = []
  for (const name of side === 'x' ? ['b1', 'b2'] : ['t1', 't2']) {
    const value = (await one.find(key, ids.get(name), { status }))?.[side]
    const list = (Array.isArray(value) ? value : value ? [value] : []) as readonly Row[]
    found.push(...list.map(({ name: other }) => (side === 'x' ? `${name}-${other}` : `${other}-${name}`)))
  }
  return found
}

const shown = (row: RelationRow): string =>
  `docs/migrations.md:${row.line}: ${JSON.stringify(row.before)} -> ${JSON.stringify(row.after)}`

function verdictOf(plan: MigrationPlan, row: RelationRow): string {
  const own = new RegExp(`"(book|tag)${rows.indexOf(row)}s(_[xy]_links)?"`)
  const against = plan.refusals.filter(({ table }) => own.test(`"${table}"`)).map(({ code }) => code)
  if (against.length > 0) return `refused: ${[...new Set(against)].join()}`
  const steps = plan.steps.filter(({ statements }) => statements.some(text => own.test(text)))
  return RISKS.findLast(weight => steps.some(step => step.weight === weight)) ?? 'safe'
}

interface Seen {
  readonly one: Stage
  readonly row: RelationRow
  readonly ids: Ids
}

/** From both sides, of both statuses. */
async function assertLinks(t: ExecutionContext, { one, row, ids }: Seen): Promise<void> {
  const [sides, expected] = row.code === null ? [row.after, row.outcome] : [row.before, row.links]
  for (const status of ['draft', 'published'] as const) {
    if (sides.x !== null) t.deepEqual(await linksOf(one, row, ids, 'x', status), expected, shown(row))
    if (sides.y === null) continue
    const found = await linksOf(one, row, ids, 'y', status)
    t.deepEqual(found.toSorted(), expected.toSorted(), `${shown(row)}, backwards`)
  }
}

const NONE = ''
const DRAFTS = 'draftAndPublish: true,'
const BOTH = 'draftAndPublish: true, localized: true,'

for (const versions of [
  { book: NONE, tag: NONE },
  { book: NONE, tag: BOTH },
  { book: BOTH, tag: NONE },
  { book: DRAFTS, tag: DRAFTS },
]) {
  const words = [versions.book || 'plain', versions.tag || 'plain'].join(' / ').replaceAll(',', '')
  test.serial(
    `each change of a relation has the effect that docs/migrations.md describes: ${words}`,
    async t => {
      t.true(rows.length >= 30)
      const database = await openTestDatabase(t)
      const one = await stage(
        database,
        project(versions, ({ before }) => before),
      )
      const ids = new Map<RelationRow, Ids>()
      for (const row of rows) ids.set(row, await fill(one, row))
      const { tables } = await storageOf(project(versions, ({ after }) => after))
      const plan = await planMigration(database, tables)
      for (const row of rows)
        t.is(verdictOf(plan, row), row.code === null ? row.class : `refused: ${row.code}`, shown(row))
      t.false((await migrate(database, tables, { allowing: 'destructive' })).ok)
      const then = await one.become(
        project(versions, ({ code, before, after }) => (code === null ? after : before)),
      )
      for (const row of rows) await assertLinks(t, { one: then, row, ids: ids.get(row) ?? new Map() })
    },
  )
}
