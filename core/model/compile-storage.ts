import { deepFreeze, present } from '../base/plain-data.ts'
import {
  attributeColumns,
  identityColumn,
  impossibleIndexes,
  localeColumn,
  oneOfCheck,
  optionalColumn,
  ownerForeignKey,
  requiredColumn,
  STATUS_VALUES,
  toIndex,
  uniqueIndex,
  valueChecks,
  versionLocaleColumn,
} from './columns.ts'
import { buildComponentTable, toSchemaShape } from './component-table.ts'
import { linkTableName } from './identifiers.ts'
import {
  type ExpectedLists,
  formerTableName,
  isStoredLink,
  renamedLocales,
  type SchemaInput,
  type StorageLayout,
  type StoredLink,
  toLayout,
  toSchemaInput,
} from './layout.ts'
import type { ContentType, Holder, Model } from './model.ts'
import { type SearchSets, searchIndexes, searchTriggers } from './search.ts'
import { wordsTable } from './search-words.ts'
import {
  type Column,
  type ForeignKey,
  ownerName,
  type Storage,
  type Table,
  type TableLink,
} from './storage.ts'
import { listIndexes, typeIndexes, uniqueValues } from './type-indexes.ts'

/**
 * Compiles the tables of a model and their names. Deterministic. Link tables follow the tables of their owners.
 * Expected lists get their own indexes, and sets of searched attributes their own vectors.
 */
export function compileStorage(
  model: Model,
  expected: ExpectedLists | null = null,
  searchSets: SearchSets = new Map(),
): Storage {
  const layout = toLayout(model, searchSets)
  const blueprint = toSchemaInput(model, layout, expected)
  const types = [...model.contentTypes.values()]
  const components = [...model.components.values()]
  return deepFreeze({
    ...layout,
    tables: [
      ...systemTables(model),
      ...types.map(type => withSearchTriggers(buildTypeTable(type, blueprint), layout, [type])),
      ...types.flatMap(type => {
        const search = layout.search(type)
        return (search && wordsTable(type, search)) ?? []
      }),
      ...components.map(component =>
        withSearchTriggers(buildComponentTable(component, blueprint), layout, types),
      ),
      ...[...types, ...components].flatMap(holder => buildLinkTables(holder, blueprint)),
    ],
  })
}

function withSearchTriggers(table: Table, layout: StorageLayout, types: readonly ContentType[]): Table {
  const triggers = searchTriggers(table.name, layout, types)
  return triggers.length === 0 ? table : { ...table, searchTriggers: triggers }
}

/** One row for each version: (document, locale, status). */
function buildTypeTable(type: ContentType, blueprint: SchemaInput): Table {
  const { layout, expected } = blueprint
  const { name } = layout.table(type)
  const search = layout.search(type)
  const indexes = [...typeIndexes(type, layout), ...(search ? searchIndexes(name, search) : [])]
  return {
    name,
    serves: `content-type \`${type.key}\``,
    columns: [
      ...versionColumns(type, blueprint),
      ...attributeColumns(type, blueprint),
      ...stampColumns(type),
      ...(search?.vectors.map(({ column }) => optionalColumn(column, 'tsvector')) ?? []),
    ],
    primaryKey: ['id'],
    indexes: expected ? [...indexes, ...listIndexes({ type, layout, expected, indexes })] : indexes,
    checks: [
      ...(type.draftAndPublish ? [oneOfCheck(name, 'status', STATUS_VALUES)] : []),
      ...valueChecks(type, name, layout),
    ],
    foreignKeys: [],
    versioned: true,
    shape: toSchemaShape(type, blueprint.model, layout),
    ...present({
      renamedFrom: formerTableName(type),
      impossibleIndexes: impossibleIndexes(type, each => uniqueValues(type, each, layout)),
    }),
  }
}

function versionColumns(
  type: ContentType,
  { model, layout, renamedLocales }: SchemaInput,
): readonly Column[] {
  const { id, documentId, key, status, locale } = layout.table(type)
  return [
    identityColumn(id),
    requiredColumn(documentId, 'varchar(255)'),
    ...(key === id ? [] : [requiredColumn(key, 'integer')]),
    ...(status === null ? [] : [requiredColumn(status, 'varchar(255)')]),
    ...(locale === null
      ? []
      : [versionLocaleColumn(requiredColumn(locale, 'varchar(255)'), model, renamedLocales)]),
  ]
}

/** `shared_updated_at`: reference/documents.md#4-time-stamps, the last change of attributes that all locales share. */
function stampColumns({ draftAndPublish, localized }: ContentType): readonly Column[] {
  return [
    requiredColumn('created_at', 'timestamptz(3)'),
    requiredColumn('updated_at', 'timestamptz(3)'),
    optionalColumn('published_at', 'timestamptz(3)'),
    ...(draftAndPublish && localized ? [optionalColumn('shared_updated_at', 'timestamptz(3)')] : []),
  ]
}

/** A table with one row for each link, for every to-many link that the holder stores. */
function buildLinkTables(holder: Holder, blueprint: SchemaInput): readonly Table[] {
  return [...holder.attributes.values()].flatMap(attribute => {
    if (!isStoredLink(attribute)) return []
    const link = blueprint.layout.link(holder, attribute.name)
    return link.kind === 'table' ? [linkTable(holder, attribute, link, blueprint)] : []
  })
}

function linkTable(holder: Holder, attribute: StoredLink, link: TableLink, blueprint: SchemaInput): Table {
  const owner = link.owner.map(([column]) => column)
  const target = [link.targetKey, link.targetStatus, link.targetLocale].filter(name => name !== null)
  return {
    name: link.table,
    serves: `attribute \`${ownerName(holder, attribute.name)}\``,
    columns: linkColumns(holder, link, blueprint),
    primaryKey: ['id'],
    indexes: [
      uniqueIndex(link.table, [...owner, ...target]),
      toIndex(link.table, [...target, ...inverseOrder(link)]),
    ],
    checks: [...owner, ...target]
      .filter(isStatus)
      .map(column => oneOfCheck(link.table, column, STATUS_VALUES)),
    foreignKeys: ownerKeys(holder, link, blueprint),
    versioned: true,
    ...present({ renamedFrom: formerLinkTable(holder, attribute, link, blueprint) }),
  }
}

/** The index in the order of the inverse list: a page is read without reading the whole list. */
const inverseOrder = ({ inversePosition }: TableLink): readonly string[] =>
  inversePosition === null ? [] : [inversePosition]

const isStatus = (column: string): boolean => column.endsWith('_status')

function linkColumns(
  holder: Holder,
  link: TableLink,
  { model, renamedLocales }: SchemaInput,
): readonly Column[] {
  // A component's link may store a status or locale, depending on the owner.
  const coordinate = holder.holder === 'component' ? optionalColumn : requiredColumn
  return [
    identityColumn('id'),
    ...link.owner.map(([column]) => requiredColumn(column, isStatus(column) ? 'varchar(255)' : 'integer')),
    requiredColumn(link.targetKey, 'integer'),
    ...(link.targetStatus === null ? [] : [coordinate(link.targetStatus, 'varchar(255)')]),
    ...(link.targetLocale === null
      ? []
      : [versionLocaleColumn(coordinate(link.targetLocale, 'varchar(255)'), model, renamedLocales)]),
    requiredColumn(link.position, 'double precision'),
    ...(link.inversePosition === null ? [] : [optionalColumn(link.inversePosition, 'double precision')]),
  ]
}

/** A list that all locales share belongs to the document key, not to a single row. */
function ownerKeys(holder: Holder, link: TableLink, { layout }: SchemaInput): readonly ForeignKey[] {
  const columns = link.owner.map(([own]) => own)
  if (columns.includes('owner_key')) return []
  const table = holder.holder === 'component' ? layout.componentTable(holder) : layout.table(holder)
  return [
    ownerForeignKey(link.table, columns, {
      table: table.name,
      columns: link.owner.map(([, owner]) => owner),
    }),
  ]
}

function formerLinkTable(
  holder: Holder,
  attribute: StoredLink,
  link: TableLink,
  { layout }: SchemaInput,
): string | undefined {
  const table = holder.holder === 'component' ? layout.componentTable(holder) : layout.table(holder)
  const former = linkTableName(formerTableName(holder) ?? table.name, attribute.renamedFrom ?? attribute.name)
  return former === link.table ? undefined : former
}

const systemTable = (
  name: string,
  serves: string,
  columns: readonly Column[],
  primaryKey: readonly string[],
): Table => ({
  name,
  serves,
  columns,
  primaryKey,
  indexes: [],
  checks: [],
  foreignKeys: [],
  versioned: false,
})

/** The number of writes to each versioned table and the last of them, sharded so that writers do not wait for each other. */
const versions = systemTable(
  'plinth_versions',
  'exact caching',
  [
    requiredColumn('table_name', 'varchar(255)'),
    requiredColumn('shard', 'integer'),
    { ...requiredColumn('version', 'bigint'), default: 0 },
    optionalColumn('changes', 'text'),
  ],
  ['table_name', 'shard'],
)

/** A column of uids. Its values follow renamed types. */
function uidColumn(model: Model): Column {
  const renamed = new Map(
    [...model.contentTypes.values()].flatMap(({ uid, renamedFrom }): [string, string][] =>
      renamedFrom === undefined ? [] : [[`api::${renamedFrom}.${renamedFrom}`, uid]],
    ),
  )
  const column = requiredColumn('content_type', 'varchar(255)')
  return renamed.size === 0 ? column : { ...column, renamedValues: renamed }
}

/** The documents that content/ has written, so that a deleted one is not created again. */
const content = (model: Model): Table =>
  systemTable(
    'plinth_content',
    'documents of content/',
    [
      uidColumn(model),
      requiredColumn('document_id', 'varchar(255)'),
      requiredColumn('digest', 'varchar(255)'),
      requiredColumn('written_at', 'timestamptz(3)'),
    ],
    ['content_type', 'document_id'],
  )

/** The number of requests of a key in the current window, shared by all processes. */
const rateLimits = systemTable(
  'plinth_rate_limits',
  'rate limits',
  [
    requiredColumn('key', 'varchar(255)'),
    requiredColumn('requests', 'integer'),
    requiredColumn('ends_at', 'timestamptz(3)'),
  ],
  ['key'],
)

/** The users of accounts at sign-in providers, by a hash of issuer and subject. */
const identities = systemTable(
  'plinth_identities',
  'accounts at sign-in providers',
  [
    requiredColumn('key', 'varchar(255)'),
    requiredColumn('document_id', 'varchar(255)'),
    requiredColumn('linked_at', 'timestamptz(3)'),
  ],
  ['key'],
)

const USER_KEYS = 'plinth_user_keys'

/** API keys of users, by their hash. */
const userKeys: Table = {
  ...systemTable(
    USER_KEYS,
    'keys of users',
    [
      requiredColumn('hash', 'varchar(255)'),
      requiredColumn('id', 'varchar(255)'),
      requiredColumn('document_id', 'varchar(255)'),
      requiredColumn('session_version', 'integer'),
      requiredColumn('name', 'varchar(255)'),
      optionalColumn('permissions', 'jsonb'),
      requiredColumn('created_at', 'timestamptz(3)'),
      requiredColumn('expires_at', 'timestamptz(3)'),
    ],
    ['hash'],
  ),
  indexes: [toIndex(USER_KEYS, ['document_id'])],
}

const OUTBOX = 'plinth_outbox'
const WAITING = { column: 'state', equals: 'waiting' } as const
const FAILED = { column: 'state', equals: 'failed' } as const

/** The outbox: pending events with one row for each listener, written in the transaction of the change. */
const outbox = (model: Model): Table => ({
  ...systemTable(
    OUTBOX,
    'events of documents',
    [
      { ...identityColumn('id'), type: 'bigint' },
      requiredColumn('listener', 'varchar(255)'),
      uidColumn(model),
      requiredColumn('document_id', 'varchar(255)'),
      localeColumn(optionalColumn('locale', 'varchar(255)'), renamedLocales(model)),
      requiredColumn('action', 'varchar(255)'),
      optionalColumn('origin', 'jsonb'),
      requiredColumn('written_at', 'timestamptz(3)'),
      requiredColumn('due_at', 'timestamptz(3)'),
      requiredColumn('state', 'varchar(255)'),
      requiredColumn('attempts', 'integer'),
      optionalColumn('last_error', 'text'),
    ],
    ['id'],
  ),
  indexes: [
    toIndex(OUTBOX, ['listener', 'due_at', 'id'], WAITING),
    toIndex(OUTBOX, ['listener', 'document_id', 'id'], WAITING),
    toIndex(OUTBOX, ['listener'], FAILED),
  ],
  checks: [oneOfCheck(OUTBOX, 'state', ['waiting', 'failed'])],
})

/** Checkpoints of unfinished imports: their decisions, and the number of processed lines. */
const imports = systemTable(
  'plinth_imports',
  'imports',
  [
    requiredColumn('digest', 'varchar(255)'),
    requiredColumn('done', 'integer'),
    requiredColumn('decided', 'jsonb'),
    requiredColumn('begun_at', 'timestamptz(3)'),
  ],
  ['digest'],
)

const IDEMPOTENCY = 'plinth_idempotency'

/** Answers to requests with an Idempotency-Key, written in the transaction of the change and encrypted with that key. */
const idempotency: Table = {
  ...systemTable(
    IDEMPOTENCY,
    'repeated requests',
    [
      requiredColumn('key', 'varchar(255)'),
      requiredColumn('request', 'varchar(255)'),
      requiredColumn('answer', 'text'),
      requiredColumn('expires_at', 'timestamptz(3)'),
    ],
    ['key'],
  ),
  indexes: [toIndex(IDEMPOTENCY, ['expires_at'])],
}

export const systemTables = (model: Model): readonly Table[] => [
  versions,
  content(model),
  rateLimits,
  identities,
  userKeys,
  outbox(model),
  imports,
  idempotency,
]
