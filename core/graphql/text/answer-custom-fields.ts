import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
  responsePathAsArray,
} from 'graphql'
import type { Acting } from '../resolve/resolve-read.ts'
import type { CodeField } from './custom-field.ts'
import { type AnswerPath, findPlaces, type PlaceFound, type Steps } from './custom-field-places.ts'
import { nullAbove, partsOf } from './custom-field-text.ts'

export interface CodeTerms {
  readonly code: readonly CodeField[]
  readonly steps: Steps
  readonly acting: Acting
  /** Of the operation, as resolvers are told of it. */
  readonly told: ToldOperation
  /** Where the text lies in the answer. */
  readonly root: AnswerPath
}

export type ToldOperation = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'operation' | 'variableValues' | 'rootValue'
>

/** A text that is whole, and what went wrong with what code has in it. */
interface WholeText {
  readonly text: string
  readonly errors: readonly GraphQLError[]
}

/** Has code fill its places in a text that PostgreSQL wrote, asked in the order in which they stand there. */
export async function answerCode(text: string, terms: CodeTerms): Promise<WholeText> {
  if (terms.steps.length === 0) return { text, errors: [] }
  const places = findPlaces(text, terms)
  return join(partsOf(text), await Promise.all(places.map(place => answerPlace(place, terms))), terms.root)
}

/** JSON, or what went wrong. */
type Answered = string | Failed

interface Failed {
  readonly error: GraphQLError
  readonly path: readonly (string | number)[]
  readonly above: number | null
}

async function answerPlace(place: PlaceFound, { acting, told }: CodeTerms): Promise<Answered> {
  const { field, nodes, above } = place.field
  const { resolve = defaultFieldResolver } = field
  try {
    const args = field.args.length === 0 ? {} : getArgumentValues(field, nodes[0], told.variableValues)
    const answered: unknown = await resolve(place.row, args, acting, infoOf(place, told))
    return JSON.stringify(complete(answered, place.field))
  } catch (error) {
    const path = responsePathAsArray(place.path)
    return { error: locatedError(error, nodes, path), path, above }
  }
}

const infoOf = ({ field: { field, nodes, parentType }, path }: PlaceFound, told: ToldOperation) => ({
  fieldName: field.name,
  fieldNodes: nodes,
  returnType: field.type,
  parentType,
  path,
  ...told,
})

/** The GraphQL specification's CompleteValue (6.4.3) for scalars and enumerations. */
function complete(value: unknown, { field, type, parentType, above }: CodeField): unknown {
  if (value instanceof Error) throw value
  if (value !== null && value !== undefined) {
    const written: unknown = type.serialize(value)
    if (written !== null && written !== undefined) return written
    throw new Error(
      `Expected \`${type.name}.serialize\` to return a value for ${parentType.name}.${field.name}`,
    )
  }
  if (above === null) return null
  throw new Error(`Cannot return null for non-nullable field ${parentType.name}.${field.name}.`)
}

function join(
  [first = '', ...others]: readonly string[],
  answers: readonly Answered[],
  root: AnswerPath,
): WholeText {
  let text = first
  const failed: Failed[] = []
  for (const [index, part] of others.entries()) {
    const answer = answers[index] ?? 'null'
    if (typeof answer !== 'string') failed.push(answer)
    text += (typeof answer === 'string' ? answer : 'null') + part
  }
  const depth = responsePathAsArray(root).length
  const broken = failed.flatMap(({ path, above }) =>
    above === null ? [] : [{ path: path.slice(depth), above }],
  )
  return {
    text: broken.length === 0 ? text : nullAbove(text, broken),
    errors: failed.map(({ error }) => error),
  }
}
