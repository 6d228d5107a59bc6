import { assertKnownKeys, knownNames, nameType } from '../plugins/plugin-module.ts'
import type {
  DocumentAction,
  DocumentCall,
  DocumentContext,
  DocumentMiddleware,
  PreviousDocument,
  PreviousParams,
  RunDocumentMiddlewares,
} from '../plugins/services/documents-api.ts'
import { requestState } from '../plugins/services/plugin-context.ts'
import { isRecord } from '../query/parse-place.ts'
import { type Params, parseDocumentId } from './action-params.ts'

/** Composes middlewares into one, the first outermost; null without any. `roleName`: the name of a role by its key. */
export function composeMiddlewares(
  middlewares: readonly DocumentMiddleware[],
  roleName: (type: string) => string = type => type,
): RunDocumentMiddlewares | null {
  if (middlewares.length === 0) return null
  return (call: DocumentCall) => {
    const previous = openPrevious(call)
    const context = contextOf(call, { previous: previous.read, roleName })
    const run = async (index: number): Promise<unknown> => {
      const middleware = middlewares[index]
      if (!middleware) {
        await previous.close()
        if (!isRecord(context.params))
          throw new Error('context.params of a document middleware must be an object')
        return call.perform(context.params)
      }
      const value = await middleware(
        context,
        once(() => run(index + 1)),
      )
      if (value === undefined)
        throw new Error(`A document middleware answered nothing: it must return next() (${middleware.name})`)
      const [expected, isAnswer] = ANSWERS[call.action]
      if (value !== null && !isAnswer(value))
        throw new Error(
          `A document middleware must answer ${call.action} with ${expected} or null, found ${nameType(value)} (${middleware.name})`,
        )
      return value
    }
    return run(0)
  }
}

type AnswerCheck = readonly [expected: string, isAnswer: (value: unknown) => boolean]

const DOCUMENT: AnswerCheck = ['a document', isRecord]
const ENTRIES: AnswerCheck = [
  '{ documentId, entries }',
  value => isRecord(value) && Array.isArray(value.entries),
]
const COUNT: AnswerCheck = ['{ count }', value => isRecord(value) && typeof value.count === 'number']

/** Callers of an action rely on its form. */
const ANSWERS: Readonly<Record<DocumentAction, AnswerCheck>> = {
  findMany: ['a list of documents', Array.isArray],
  findFirst: DOCUMENT,
  findOne: DOCUMENT,
  count: ['a number', value => typeof value === 'number'],
  create: DOCUMENT,
  update: DOCUMENT,
  delete: ENTRIES,
  updateMany: COUNT,
  deleteMany: COUNT,
  publish: ENTRIES,
  unpublish: ENTRIES,
  discardDraft: ENTRIES,
}

interface ContextParts extends Pick<DocumentContext, 'previous'> {
  roleName(type: string): string
}

function contextOf(
  { type, action, params, caller }: DocumentCall,
  { previous, roleName }: ContextParts,
): DocumentContext {
  let callerState: DocumentContext['caller'] | undefined
  const context: DocumentContext = {
    uid: type.uid,
    contentType: type,
    action,
    params: structuredClone(params),
    get caller() {
      callerState ??= caller && requestState(caller, roleName)
      return callerState
    },
    previous,
  }
  Object.setPrototypeOf(context, CONTEXT_NAMES)
  // An assignment such as `context.result = …` would have no effect.
  return Object.preventExtensions(context)
}

const CONTEXT_NAMES = knownNames('context')

const HAS_PREVIOUS: ReadonlySet<string> = new Set([
  'update',
  'delete',
  'publish',
  'unpublish',
  'discardDraft',
])

/** Reads the document before the action, once for each set of parameters. */
function openPrevious({ type, action, params, read }: DocumentCall) {
  const known = new Map<string, Promise<unknown>>()
  let isClosed = false
  const start = (asked: PreviousParams): Promise<unknown> => {
    if (!HAS_PREVIOUS.has(action)) throw new Error(`${action} changes no document: it has no previous()`)
    assertKnownKeys(asked, ['populate', 'fields', 'status', 'locale'], 'previous(…)')
    if (isClosed) throw new Error('previous() must be called before next(): now the action has begun')
    return read({
      ...versionOf(params),
      ...asked,
      documentId: parseDocumentId(params, type) ?? undefined,
    })
  }
  return {
    read: async (asked: PreviousParams = {}): Promise<PreviousDocument | null> => {
      const key = JSON.stringify(asked)
      const reading = known.get(key) ?? start(asked)
      known.set(key, reading)
      const document = await reading
      return isRecord(document) ? document : null
    },
    /** Waits for reads that a middleware did not await, so that they do not see the result of the action. */
    close: async () => {
      isClosed = true
      if (known.size > 0) await Promise.allSettled(known.values())
    },
  }
}

/**
 * Writes begin with the draft, also those that publish it. On a type without drafts, the status chooses the versions of populated
 * relations: only drafts show all of them.
 */
function versionOf({ locale }: Params): Params {
  const status = 'draft'
  return typeof locale === 'string' && locale !== '*' ? { status, locale } : { status }
}

function once(next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false
  return async () => {
    if (called) throw new Error('next() of a document middleware was called twice')
    called = true
    return next()
  }
}
