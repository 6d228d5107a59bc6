import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
  responsePathAsArray,
} from 'graphql'
import { CODE_SLOT } from '../../plan/layout.ts'
import type { ExecutionContext } from '../resolve/resolve-read.ts'
import {
  type AnswerPath,
  type CustomField,
  findPlaces,
  type PlaceFound,
  type PlaceSteps,
} from './custom-field.ts'

export interface CustomFieldTerms {
  readonly fields: readonly CustomField[]
  readonly steps: PlaceSteps
  readonly context: ExecutionContext
  /** The operation, for resolvers' `info`. */
  readonly operation: OperationInfo
  /** The path of the text in the answer. */
  readonly root: AnswerPath
}

export type OperationInfo = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'operation' | 'variableValues' | 'rootValue'
>

/** The complete text, and the errors of its custom fields. `text`: null if the object around the documents must be null. */
interface CompletedText {
  readonly text: string | null
  readonly errors: readonly GraphQLError[]
}

/** Resolves the custom fields of a text in document order, and inserts their values. */
export async function answerCustomFields(text: string, terms: CustomFieldTerms): Promise<CompletedText> {
  if (terms.steps.length === 0) return { text, errors: [] }
  const places = findPlaces(text, terms)
  return fillPlaces(
    splitAtPlaces(text),
    await Promise.all(places.map(place => answerPlace(place, terms))),
    terms.root,
  )
}

/** JSON text, or a failure. */
type PlaceResult = string | FailedPlace

interface FailedPlace {
  readonly error: GraphQLError
  readonly path: readonly (string | number)[]
  readonly levelsUp: number | null
}

async function answerPlace(
  place: PlaceFound,
  { context, operation }: CustomFieldTerms,
): Promise<PlaceResult> {
  const { field, nodes, levelsUp } = place.field
  const { resolve = defaultFieldResolver } = field
  try {
    const args = field.args.length === 0 ? {} : getArgumentValues(field, nodes[0], operation.variableValues)
    const answered: unknown = await resolve(place.row, args, context, toResolveInfo(place, operation))
    return JSON.stringify(complete(answered, place.field))
  } catch (error) {
    const path = responsePathAsArray(place.path)
    return { error: locatedError(error, nodes, path), path, levelsUp }
  }
}

const toResolveInfo = (
  { field: { field, nodes, parentType }, path }: PlaceFound,
  operation: OperationInfo,
) => ({
  fieldName: field.name,
  fieldNodes: nodes,
  returnType: field.type,
  parentType,
  path,
  ...operation,
})

/** The GraphQL specification's CompleteValue (6.4.3) for scalars and enumerations. */
function complete(value: unknown, { field, type, parentType, levelsUp }: CustomField): unknown {
  if (value instanceof Error) throw value
  if (value !== null && value !== undefined) {
    const written: unknown = type.serialize(value)
    if (written !== null && written !== undefined) return written
    throw new Error(
      `Expected \`${type.name}.serialize\` to return a value for ${parentType.name}.${field.name}`,
    )
  }
  if (levelsUp === null) return null
  throw new Error(`Cannot return null for non-nullable field ${parentType.name}.${field.name}.`)
}

function fillPlaces(
  [first = '', ...others]: readonly string[],
  answers: readonly PlaceResult[],
  root: AnswerPath,
): CompletedText {
  let text = first
  const failed: FailedPlace[] = []
  for (const [index, part] of others.entries()) {
    const answer = answers[index] ?? 'null'
    if (typeof answer !== 'string') failed.push(answer)
    text += (typeof answer === 'string' ? answer : 'null') + part
  }
  const depth = responsePathAsArray(root).length
  const broken = failed.flatMap(({ path, levelsUp }) =>
    levelsUp === null ? [] : [{ path: path.slice(depth), levelsUp }],
  )
  return {
    text: broken.length === 0 ? text : propagateNulls(text, broken),
    errors: failed.map(({ error }) => error),
  }
}

/** Splits a text at the places of custom fields: one part more than there are places. */
export function splitAtPlaces(text: string): readonly string[] {
  const { from } = CODE_SLOT
  const parts: string[] = []
  let begin = 0
  for (let mark = nextMark(text, 0); mark >= 0; ) {
    const end = nextMark(text, mark + MARK.length)
    parts.push(text.slice(begin, mark - from.length))
    // A place ends with the mark and a brace.
    begin = end + MARK.length + 1
    mark = nextMark(text, begin)
  }
  parts.push(text.slice(begin))
  return parts
}

const MARK = CODE_SLOT.mark
const ESCAPE = MARK.slice(1)

/** The next mark; -1: none. Searches for the backslash, which is rarer than the quotation mark before it. */
function nextMark(text: string, from: number): number {
  let at = text.indexOf(ESCAPE, from)
  while (at > 0 && text[at - 1] !== '"') at = text.indexOf(ESCAPE, at + 1)
  return at < 0 ? -1 : at - 1
}

/** A null in a non-null field. The value `levelsUp` objects and lists above it becomes null. */
interface NullViolation {
  /** The path from the root of the text. */
  readonly path: readonly (string | number)[]
  readonly levelsUp: number
}

/** The GraphQL specification's "Handling Execution Errors" (6.4.4). */
function propagateNulls(text: string, broken: readonly NullViolation[]): string | null {
  const whole: unknown = JSON.parse(text)
  const lengths = broken.map(({ path, levelsUp }) => path.length - 1 - levelsUp)
  if (lengths.some(length => length < 0)) return null
  if (lengths.includes(0)) return 'null'
  for (const [index, { path }] of broken.entries()) {
    const keys = path.slice(0, lengths[index])
    const last = keys.pop()
    const holder = keys.reduce<unknown>((value, key) => propertyOf(value, key), whole)
    if (last !== undefined && isObject(holder)) holder[last] = null
  }
  return JSON.stringify(whole)
}

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null

/** null if the parent is null already. */
const propertyOf = (value: unknown, key: string | number): unknown => (isObject(value) ? value[key] : null)
