import { type Case, fill, isObject, type Json, type JsonObject, type Step, type Variables } from './case.ts'
import { applyWrite, EMPTY_WORLD, Inexpressible, newDocumentId, type World } from './world.ts'

/** Reads of a case between two of its writes, with a world of their own that holds all that was written before. */
export interface Phase {
  readonly world: World
  readonly variables: Variables
  /** Known to the server alone (a numeric id): where to read them once it runs. */
  readonly later: readonly { readonly variable: string; readonly path: string; readonly at: string }[]
  /** Reads of earlier phases that captured something. */
  readonly before: readonly Step[]
  readonly reads: readonly Step[]
}

interface Draft {
  readonly world: World
  readonly variables: Map<string, Json>
  readonly later: Phase['later'][number][]
}

export function phasesOf(recorded: Case): readonly Phase[] {
  const starts = recorded.steps.flatMap((step, index) =>
    isRead(step) && !isRead(recorded.steps[index - 1]) ? [index] : [],
  )
  const phases: Phase[] = []
  for (const start of starts) {
    const phase = prepare(recorded, start)
    if (!phase) break
    phases.push(phase)
  }
  return phases
}

/** Reads are compared; a refused write changes nothing, so it does not separate two phases. */
const isRead = (step: Step | undefined): boolean => step !== undefined && !changes(step)

/** Without an expectation a step prepares something where it keeps an id of it, or takes something away. */
function changes({ request, expect, capture }: Step): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false
  return expect ? expect.status < 300 : capture !== undefined || request.method === 'DELETE'
}

function prepare(recorded: Case, start: number): Phase | null {
  const earlier = recorded.steps.slice(0, start)
  try {
    const draft = earlier.reduce(follow, begin(recorded))
    const length = recorded.steps.slice(start).findIndex(changes)
    const reads = recorded.steps.slice(start, length < 0 ? undefined : start + length)
    return {
      ...draft,
      before: earlier.filter(step => isGet(step) && step.capture),
      reads: reads.filter(isGet),
    }
  } catch (reason) {
    if (reason instanceof Inexpressible) return null
    throw reason
  }
}

const isGet = ({ request }: Step): boolean => request.method === 'GET'

function begin(recorded: Case): Draft {
  const variables = new Map<string, Json>([['run', Math.random().toString(36).slice(2, 8).padEnd(6, 'x')]])
  for (const [name, text] of Object.entries(recorded.vars ?? {})) variables.set(name, fill(text, variables))
  return { world: EMPTY_WORLD, variables, later: [] }
}

function follow(draft: Draft, step: Step): Draft {
  if (changes(step)) return take(draft, step)
  return isGet(step) && step.capture ? recognise(draft, step) : draft
}

/** A list that is read for a document's id, where only one can be meant. */
function recognise(draft: Draft, step: Step): Draft {
  const plural = step.request.path.replace(/^\/api\/|\?.*$/g, '')
  const [only, ...others] = [...draft.world.documents.values()].filter(document => document.plural === plural)
  for (const [variable, at] of Object.entries(step.capture ?? {})) {
    if (at === 'data.0.documentId' && only && others.length === 0)
      draft.variables.set(variable, only.documentId)
  }
  return draft
}

function take(draft: Draft, step: Step): Draft {
  const url = new URL(String(fill(step.request.path, draft.variables)), 'http://case')
  if (url.pathname === '/api/upload') return takeUpload(draft, step)
  const [plural, input] = url.pathname.replace(/^\/api\//, '').split('/')
  const id = input ?? newDocumentId()
  if (!plural || KNOWN_ELSEWHERE.has(plural) || step.request.rawBody !== undefined)
    throw new Inexpressible(url.pathname)
  const world = applyWrite(draft.world, {
    method: step.request.method,
    plural,
    id,
    parameters: url.searchParams,
    values: dataOf(fill(step.request.body ?? null, draft.variables)),
  })
  for (const [variable, at] of Object.entries(step.capture ?? {})) {
    if (at === 'data.documentId') draft.variables.set(variable, id)
    else draft.later.push({ variable, path: `/api/${plural}/${id}?status=${statusIn(world, id)}`, at })
  }
  return { ...draft, world }
}

/** Single types cannot be loaded together; users are not documents of content/<plural>. */
const KNOWN_ELSEWHERE: ReadonlySet<string> = new Set(['setting', 'homepage', 'users', 'auth'])

const statusIn = (world: World, id: string): string => world.documents.get(id)?.status ?? 'published'

function dataOf(body: Json): JsonObject {
  return isObject(body) && isObject(body.data) ? body.data : {}
}

/** The file's name replaces its id in the case. */
function takeUpload(draft: Draft, step: Step): Draft {
  const file = step.request.form?.files
  if (!file || Array.isArray(file)) throw new Inexpressible('an upload of several files')
  const name = String(fill(file.file, draft.variables))
  for (const variable of Object.keys(step.capture ?? {})) draft.variables.set(variable, { file: name })
  const files = new Map([...draft.world.files, [name, Buffer.from(file.base64, 'base64')] as const])
  return { ...draft, world: { ...draft.world, files } }
}
