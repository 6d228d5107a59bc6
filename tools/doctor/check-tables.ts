import { decide } from '../../core/access/decide.ts'
import { PUBLIC, resolveHolders } from '../../core/access/holders.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import { declaredIndex } from '../../core/model/type-indexes.ts'
import type { Settings } from '../../core/project/settings/settings.ts'
import { type Advice, counted } from './advice.ts'
import type { IndexNumbers, TableNumbers, TableStatistics } from './table-statistics.ts'

export interface TableTerms {
  readonly model: Model
  readonly storage: Storage
  /** Replicas use indexes too, but their statistics are not visible here. */
  readonly hasReplicas: boolean
}

/** Advice from PostgreSQL's statistics on the project's tables. */
export function lookAtTables({ tables, counting }: TableStatistics, terms: TableTerms): readonly Advice[] {
  const origins = originsOf(terms)
  const isCounted = counting >= WEEK && !terms.hasReplicas
  return tables.flatMap(table => [
    ...versionOf(table, terms.storage),
    ...statisticsOf(table),
    ...deadRowsOf(table),
    ...table.indexes.flatMap(index => lookAtIndex(index, { table, origins, isCounted, counting })),
  ])
}

const DAY = 86_400_000
const WEEK = 7 * DAY

/** The origin of an index; undefined: it was created manually. */
type Origins = ReadonlyMap<string, 'needed' | 'declared' | 'derived'>

function originsOf({ model, storage }: TableTerms): Origins {
  const namesIn = (each: Storage) => each.tables.flatMap(({ indexes }) => indexes.map(({ name }) => name))
  const declared = [...model.contentTypes.values()].flatMap(type =>
    type.indexes.map(names => declaredIndex(type, names, storage).name),
  )
  return new Map([
    ...namesIn(storage).map(name => [name, 'derived'] as const),
    ...namesIn(compileStorage(model)).map(name => [name, 'needed'] as const),
    ...declared.map(name => [name, 'declared'] as const),
  ])
}

function versionOf({ name, versioned }: TableNumbers, { tables }: Storage): readonly Advice[] {
  if (versioned || !tables.some(table => table.name === name && table.versioned)) return []
  const found = 'writes to this table move no version, so answers that are kept may be stale'
  return [
    {
      severity: 'fault',
      code: 'no-version',
      about: name,
      found,
      remedy: '`plinth migrate` sets its trigger again',
    },
  ]
}

const MANY = 1_000

function statisticsOf({ name, rows, analyzed }: TableNumbers): readonly Advice[] {
  if (analyzed || rows < MANY) return []
  const found = `PostgreSQL never looked at the values of its ${counted(rows)} rows, and guesses when it plans`
  const remedy = `ANALYZE "${name}"; and see that autovacuum is on`
  return [{ severity: 'advice', code: 'no-statistics', about: name, found, remedy }]
}

function deadRowsOf({ name, rows, dead }: TableNumbers): readonly Advice[] {
  if (dead < 10 * MANY || dead < rows / 2) return []
  const found = `${counted(dead)} dead rows lie between ${counted(rows)} others, and every scan passes them`
  const remedy = `VACUUM "${name}"; something long open (a transaction, a replication slot) may keep autovacuum from it`
  return [{ severity: 'advice', code: 'dead-rows', about: name, found, remedy }]
}

interface IndexTerms {
  readonly table: TableNumbers
  readonly origins: Origins
  /** True if scans were counted for long enough to judge. */
  readonly isCounted: boolean
  readonly counting: number
}

function lookAtIndex(index: IndexNumbers, terms: IndexTerms): readonly Advice[] {
  const { table, origins, isCounted, counting } = terms
  const origin = origins.get(index.name)
  const about = table.name
  if (!index.valid && !index.underWay) {
    const found = `index "${index.name}" is invalid: making it failed, writes keep it up, and no read uses it`
    const remedy = origin ? '`plinth migrate` creates it again' : `DROP INDEX "${index.name}"`
    return [{ severity: 'fault', code: 'invalid-index', about, found, remedy }]
  }
  if (index.unique || origin === 'needed') return []
  const better = table.indexes.find(other => makesNeedless(other, index))
  const remedy = REMEDIES[origin ?? 'handmade'](index)
  if (better) {
    const found = `index "${index.name}" is how "${better.name}" begins: each write keeps up both`
    return [{ severity: 'advice', code: 'needless-index', about, found, remedy }]
  }
  if (!isCounted || index.scans > 0 || table.rows < 10 * MANY) return []
  const found = `index "${index.name}" (${counted(index.bytes / 1024)} kB) was used by no read in ${counted(counting / DAY)} days`
  return [{ severity: 'advice', code: 'unused-index', about, found, remedy }]
}

const REMEDIES = {
  declared: () => 'take it out of `indexes` of the content-type',
  derived: () =>
    'it follows from a permission or a stamp: `database: { indexes: declared }` leaves all such out',
  handmade: ({ name }: IndexNumbers) => `DROP INDEX "${name}"`,
}

/** Keeps the first of two equal indexes, by name. */
function makesNeedless(other: IndexNumbers, index: IndexNumbers): boolean {
  if (other.name === index.name || !other.valid || other.partial || index.partial) return false
  const begins = index.columns.every((column, at) => column !== null && other.columns[at] === column)
  if (!begins) return false
  return other.columns.length > index.columns.length || other.unique || other.name < index.name
}

/** The public roles, with the content-types whose drafts they can read. */
export function* lookAtDrafts(settings: Settings, model: Model): Generator<Advice> {
  const { roles } = resolveHolders(settings)
  for (const { key, why } of rolesOfAnybody(settings)) {
    const cells = roles.get(key)
    if (!cells) continue
    const types = [...model.contentTypes.values()].filter(type => readsDrafts(cells, type))
    if (types.length > 0) yield adviceOn(key, why, types)
  }
}

type Cells = Parameters<typeof decide>[0]

const readsDrafts = (cells: Cells, type: ContentType): boolean =>
  type.draftAndPublish &&
  decide(cells, type, 'readDrafts').said !== false &&
  READS.some(action => decide(cells, type, action).said !== false)

const READS = ['find', 'findOne'] as const

function rolesOfAnybody({ auth }: Settings): readonly { readonly key: string; readonly why: string }[] {
  const { enabled, role } = auth.register
  return [
    { key: PUBLIC, why: 'anybody, without signing in' },
    ...(enabled && role !== PUBLIC ? [{ key: role, why: 'anybody who registers (`auth.register`)' }] : []),
  ]
}

const adviceOn = (key: string, why: string, types: readonly ContentType[]): Advice => ({
  severity: 'advice',
  code: 'public-drafts',
  about: `roles.${key}`,
  found: `${why} reads drafts of ${types.map(({ key: name }) => `\`${name}\``).join(', ')}`,
  remedy:
    'remove `readDrafts` where drafts are not for the public, or set it to `false` where `update` implies it',
})
