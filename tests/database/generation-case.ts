import type { ExecutionContext } from 'ava'
import { DatabaseFailure } from '../../core/database/database-fault.ts'

const note = (attributes: string, more = '') =>
  `contentTypes:\n  note: { ${more}attributes: { ${attributes} } }\n  tag: { attributes: { name: string } }\n`

export const FIRST = note('title: string')
export const WITH_DRAFTS = note('title: string', 'draftAndPublish: true, ')
export const GROWN = note('title: string, size: integer')
export const REQUIRED = note('title: string, size: { type: integer, required: true, backfill: 1 }')

export const READ = { text: 'SELECT count(*) FROM tags', values: [] }
export const FIND = { text: 'SELECT id FROM tags', values: [] }
export const insert = (documentId: string) => ({
  text: `INSERT INTO tags (document_id, created_at, updated_at, published_at) VALUES ($1, now(), now(), now())`,
  values: [documentId],
})

export const outdated = (t: ExecutionContext, work: Promise<unknown>, message?: string) =>
  t.throwsAsync(
    work,
    { instanceOf: DatabaseFailure, message: 'the tables were changed for another version of the project' },
    message,
  )
