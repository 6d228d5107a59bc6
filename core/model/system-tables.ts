import { required } from './columns.ts'
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

/** What content/ has written: so that a document which was deleted since does not come back. */
function content(model: Model): Table {
  const renamed = new Map(
    [...model.contentTypes.values()].flatMap(({ uid, renamedFrom }): [string, string][] =>
      renamedFrom === undefined ? [] : [[`api::${renamedFrom}.${renamedFrom}`, uid]],
    ),
  )
  const type = required('content_type', 'varchar(255)')
  return systemTable(
    'plinth_content',
    'documents of content/',
    [
      renamed.size === 0 ? type : { ...type, renamedValues: renamed },
      required('document_id', 'varchar(255)'),
      required('digest', 'varchar(255)'),
      required('written_at', 'timestamptz(3)'),
    ],
    ['content_type', 'document_id'],
  )
}

/** Requests of a key in the window that is running: all processes count together. */
const rateLimits = systemTable(
  'plinth_rate_limits',
  'rate limits',
  [required('key', 'varchar(255)'), required('requests', 'integer'), required('ends_at', 'timestamptz(3)')],
  ['key'],
)

export const systemTables = (model: Model): readonly Table[] => [versions, content(model), rateLimits]
