import type { ExecutionContext } from 'ava'
import { brandCommand, trusted, UNCONDITIONAL } from '../../core/access/brand.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { DatabaseFailure } from '../../core/database/database-fault.ts'
import type { Answer, DocumentChange } from '../../core/documents/documents.ts'
import { openDocuments } from '../../core/documents/open-documents.ts'
import { NO_OUTBOX, type Outbox } from '../../core/documents/outbox.ts'
import { type Fault, RequestFault, toErrorBody } from '../../core/faults/fault.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../../core/model/model.ts'
import type { GivenValues, StatusChange, StatusCommand, WriteConditions } from '../../core/query/command.ts'
import type { Filter, Populate, Query, Selection, Status } from '../../core/query/query.ts'
import { openTestDatabase } from '../harness/test-database.ts'

export interface Where {
  readonly status?: Status
  readonly locale?: string
  readonly conditions?: Partial<WriteConditions>
  readonly tags?: readonly string[]
  /** In the form in which GraphQL writes. */
  readonly strict?: true
  /** Answers the fields alone, of rows that meet it. */
  readonly plainly?: { readonly filter: Filter | null }
}

export type Row = Record<string, unknown>

function selectionOf(holder: Holder, deep: boolean): Selection {
  const attributes = [...holder.attributes.values()]
  const fields = attributes.flatMap(each => (each.kind === 'scalar' ? [each] : []))
  return { fields, named: false, populate: deep ? attributes.flatMap(populateOf) : [] }
}

function populateOf(attribute: Attribute): Populate[] {
  const base = { as: attribute.name, origin: 'named', count: false } as const
  const listed = { filter: null, sort: [], page: null }
  if (attribute.kind === 'scalar' || attribute.kind === 'localizations' || attribute.kind === 'morph')
    return []
  if (attribute.kind === 'zone') {
    const parts = attribute.components.map(component => ({
      holder: component,
      selection: selectionOf(component, true),
    }))
    return [{ ...base, kind: 'zone', attribute, parts }]
  }
  if (attribute.kind === 'component')
    return [
      {
        ...base,
        ...listed,
        kind: 'component',
        attribute,
        selection: selectionOf(attribute.component as Component, true),
      },
    ]
  const selection = selectionOf(attribute.target, false)
  return [{ ...base, ...listed, kind: 'link', attribute, scope: null, selection }]
}

/**
 * The document service on an empty database; `outboxOf` records events of writes. It is below the app, because tests
 * count statements, order races and read rows.
 */
export async function openWriting(
  t: ExecutionContext,
  model: Model,
  outboxOf: (database: Database) => Outbox = () => NO_OUTBOX,
) {
  const { tables } = compileStorage(model)
  const database = await openTestDatabase(t, { tables })
  await migrate(database, tables)
  return openWritingOver(database, model, outboxOf)
}

/** The same on an existing database that has the tables of the model. */
export function openWritingOver(
  database: Database,
  model: Model,
  outboxOf: (database: Database) => Outbox = () => NO_OUTBOX,
) {
  const storage = compileStorage(model)
  let refuses = false
  const statements: string[] = []
  const reads: string[] = []
  const counted: typeof database = {
    ...database,
    run: (statement, options) => {
      reads.push(statement.name ?? statement.text)
      return database.run(statement, options)
    },
    transaction: async (work, options) => {
      if (refuses) {
        refuses = false
        throw new DatabaseFailure({ kind: 'serialization', message: 'as after a race', code: '40001' })
      }
      return database.transaction(
        transaction =>
          work({
            ...transaction,
            run: statement => {
              statements.push(statement.name ?? statement.text)
              return transaction.run(statement)
            },
            send: statement => {
              statements.push(statement.name ?? statement.text)
              transaction.send(statement)
            },
          }),
        options,
      )
    },
  }
  const documents = openDocuments({ database: counted, storage, model, outbox: outboxOf(database) })
  const typeOf = (key: string): ContentType => {
    const type = [...model.contentTypes.values()].find(each => each.key === key)
    if (!type) throw new Error(`no type ${key}`)
    return type
  }
  const localeOf = (type: ContentType, { locale }: Where) =>
    type.localized ? (locale ?? model.defaultLocale) : null
  const statusOf = (type: ContentType, { status = 'published' }: Where): Status =>
    type.draftAndPublish ? status : 'published'
  const answerOf = (type: ContentType, where: Where, documentId: string | null = null): Answer => {
    const locale = localeOf(type, where)
    const query: Query = {
      kind: 'query',
      type,
      take: { kind: 'one', documentId },
      status: where.status ?? 'published',
      locale: locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] },
      selection: selectionOf(type, !where.plainly),
      filter: where.plainly?.filter ?? null,
      search: null,
      publication: null,
      sort: [],
    }
    return { query: trusted(query), shape: 'flat', body: { before: '<', after: '>' } }
  }
  const permit = (where: Where): WriteConditions => ({ ...UNCONDITIONAL, ...where.conditions })
  const read = (text: string | null): Row => (text === null ? {} : JSON.parse(text))
  const tryCreate = (key: string, values: GivenValues, where: Where = {}) => {
    const type = typeOf(key)
    const command = {
      kind: 'create',
      type,
      locale: localeOf(type, where),
      status: statusOf(type, where),
      values,
      ...(where.strict && { strict: where.strict }),
    } as const
    return outcomeOf(documents.create(brandCommand(command, permit(where)), answerOf(type, where)))
  }
  const tryUpdate = (key: string, documentId: string | null, values: GivenValues, where: Where = {}) => {
    const type = typeOf(key)
    const command = {
      kind: 'update',
      type,
      documentId,
      locale: localeOf(type, where),
      status: statusOf(type, where),
      values,
      precondition: where.tags ? { tags: where.tags } : null,
    } as const
    return outcomeOf(documents.update(brandCommand(command, permit(where)), answerOf(type, where)))
  }
  const tryRemove = (
    key: string,
    documentId: string | null,
    where: Where & { readonly all?: boolean } = {},
  ) => {
    const type = typeOf(key)
    const command = {
      kind: 'delete',
      type,
      documentId,
      locale: where.all ? null : localeOf(type, where),
      precondition: where.tags ? { tags: where.tags } : null,
    } as const
    return outcomeOf(documents.delete(brandCommand(command, permit(where)), [answerOf(type, where)]))
  }
  const tryChange = (
    kind: StatusChange,
    key: string,
    documentId: string | null,
    where: Where & { readonly all?: boolean } = {},
  ): Promise<Result<DocumentChange, Fault>> => {
    const type = typeOf(key)
    const locale = where.all ? null : localeOf(type, where)
    const answer = answerOf(type, { ...where, status: kind === 'publish' ? 'published' : 'draft' })
    const command = <Kind extends StatusChange>(change: Kind) =>
      brandCommand({ kind: change, type, documentId, locale } satisfies StatusCommand<Kind>, permit(where))
    if (kind === 'publish') return outcomeOf(documents.publish(command(kind), answer))
    if (kind === 'unpublish') return outcomeOf(documents.unpublish(command(kind), answer))
    return outcomeOf(documents.discardDraft(command(kind), answer))
  }
  return {
    database,
    documents,
    /** The statements of transactions. */
    statements,
    /** All others. */
    reads,
    /** Runs a write that loads the document, as after a race: its first attempt fails. */
    loading: <Value>(write: () => Promise<Value>): Promise<Value> => {
      refuses = true
      return write()
    },
    tryCreate,
    tryUpdate,
    tryRemove,
    tryChange,
    /** The versions that were touched. */
    change: async (
      kind: StatusChange,
      key: string,
      id: unknown,
      where: Where & { readonly all?: boolean } = {},
    ): Promise<readonly Row[]> =>
      done(await tryChange(kind, key, id === null ? null : String(id), where)).texts.map(read),
    create: async (key: string, values: GivenValues, where: Where = {}) =>
      read(done(await tryCreate(key, values, where)).text),
    update: async (key: string, id: unknown, values: GivenValues, where: Where = {}) =>
      read(done(await tryUpdate(key, id === null ? null : String(id), values, where)).text),
    remove: async (key: string, id: unknown, where: Where & { readonly all?: boolean } = {}) =>
      done(await tryRemove(key, id === null ? null : String(id), where)),
    /** null: there is none to see. */
    find: async (key: string, id: unknown, where: Where = {}): Promise<Row | null> => {
      const { query, shape } = answerOf(typeOf(key), where, id === null ? null : String(id))
      const text = await documents.findOne(query, shape)
      return text === null ? null : JSON.parse(text)
    },
    rows: async (statement: string) => (await database.run({ text: statement, values: [] })).rows,
  }
}

export type Writing = Awaited<ReturnType<typeof openWriting>>

/** The outcome as a value. Rejects with anything that is not a refusal. */
async function outcomeOf<Value>(work: Promise<Value>): Promise<Result<Value, Fault>> {
  try {
    return ok(await work)
  } catch (error) {
    if (error instanceof RequestFault) return failed(error.fault)
    throw error
  }
}

export function done<Value>(result: Result<Value, Fault>): Value {
  if (result.ok) return result.value
  throw new Error(result.reasons.map(reason => JSON.stringify(toErrorBody(reason))).join('\n'))
}

/** The error as the contract has it. */
export function refusal(result: Result<unknown, Fault>): Record<string, unknown> {
  if (result.ok || !result.reasons[0]) throw new Error('it was done')
  return toErrorBody(result.reasons[0]).error
}

/** The words of what a relation answers. */
export const names = (list: unknown, key = 'name'): unknown =>
  Array.isArray(list) ? list.map(each => each[key]) : (list as Row | null)?.[key]
