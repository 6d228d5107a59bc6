import { renamedLocales } from './blueprint.ts'
import { identity, localeColumn, optional, required } from './columns.ts'
import { index, oneOf } from './constraints.ts'
import type { Model } from './model.ts'
import type { Column, Table } from './storage.ts'

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

/** How often each versioned table was written to, spread over shards so that writers do not wait for one another. */
const versions = systemTable(
  'plinth_versions',
  'exact caching',
  [
    required('table_name', 'varchar(255)'),
    required('shard', 'integer'),
    { ...required('version', 'bigint'), default: 0 },
  ],
  ['table_name', 'shard'],
)

/** Holds uids: renamed types are renamed in it. */
function uidColumn(model: Model): Column {
  const renamed = new Map(
    [...model.contentTypes.values()].flatMap(({ uid, renamedFrom }): [string, string][] =>
      renamedFrom === undefined ? [] : [[`api::${renamedFrom}.${renamedFrom}`, uid]],
    ),
  )
  const column = required('content_type', 'varchar(255)')
  return renamed.size === 0 ? column : { ...column, renamedValues: renamed }
}

/** What content/ has written: so that a document which was deleted since does not come back. */
const content = (model: Model): Table =>
  systemTable(
    'plinth_content',
    'documents of content/',
    [
      uidColumn(model),
      required('document_id', 'varchar(255)'),
      required('digest', 'varchar(255)'),
      required('written_at', 'timestamptz(3)'),
    ],
    ['content_type', 'document_id'],
  )

/** Requests of a key in the window that is running: all processes count together. */
const rateLimits = systemTable(
  'plinth_rate_limits',
  'rate limits',
  [required('key', 'varchar(255)'), required('requests', 'integer'), required('ends_at', 'timestamptz(3)')],
  ['key'],
)

const OUTBOX = 'plinth_outbox'
const WAITING = { column: 'state', equals: 'waiting' } as const
const FAILED = { column: 'state', equals: 'failed' } as const

/** Events that listeners have still to hear of, a row for each listener, written with what they tell of. */
const outbox = (model: Model): Table => ({
  ...systemTable(
    OUTBOX,
    'events of documents',
    [
      { ...identity('id'), type: 'bigint' },
      required('listener', 'varchar(255)'),
      uidColumn(model),
      required('document_id', 'varchar(255)'),
      localeColumn(optional('locale', 'varchar(255)'), renamedLocales(model)),
      required('action', 'varchar(255)'),
      optional('origin', 'jsonb'),
      required('written_at', 'timestamptz(3)'),
      required('due_at', 'timestamptz(3)'),
      required('state', 'varchar(255)'),
      required('attempts', 'integer'),
      optional('last_error', 'text'),
    ],
    ['id'],
  ),
  indexes: [
    index(OUTBOX, ['listener', 'id'], WAITING),
    index(OUTBOX, ['listener', 'document_id', 'id'], WAITING),
    index(OUTBOX, ['listener'], FAILED),
  ],
  checks: [oneOf(OUTBOX, 'state', ['waiting', 'failed'])],
})

/** Imports that were not finished: what they decided, and how many lines are done. */
const imports = systemTable(
  'plinth_imports',
  'imports',
  [
    required('digest', 'varchar(255)'),
    required('done', 'integer'),
    required('decided', 'jsonb'),
    required('begun_at', 'timestamptz(3)'),
  ],
  ['digest'],
)

const IDEMPOTENCY = 'plinth_idempotency'

/** Answers to requests with an Idempotency-Key, written with what they tell of, and encrypted by that key. */
const idempotency: Table = {
  ...systemTable(
    IDEMPOTENCY,
    'repeated requests',
    [
      required('key', 'varchar(255)'),
      required('request', 'varchar(255)'),
      required('answer', 'text'),
      required('expires_at', 'timestamptz(3)'),
    ],
    ['key'],
  ),
  indexes: [index(IDEMPOTENCY, ['expires_at'])],
}

export const systemTables = (model: Model): readonly Table[] => [
  versions,
  content(model),
  rateLimits,
  outbox(model),
  imports,
  idempotency,
]
