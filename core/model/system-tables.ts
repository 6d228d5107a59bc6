import {
  identityColumn,
  localeColumn,
  oneOfCheck,
  optionalColumn,
  requiredColumn,
  toIndex,
} from './columns.ts'
import { renamedLocales } from './layout.ts'
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

/** The number of writes to each versioned table, sharded so that writers do not wait for each other. */
const versions = systemTable(
  'plinth_versions',
  'exact caching',
  [
    requiredColumn('table_name', 'varchar(255)'),
    requiredColumn('shard', 'integer'),
    { ...requiredColumn('version', 'bigint'), default: 0 },
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
    toIndex(OUTBOX, ['listener', 'id'], WAITING),
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
  outbox(model),
  imports,
  idempotency,
]
