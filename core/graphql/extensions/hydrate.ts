import { type GraphQLOutputType, getNamedType, getNullableType, isListType } from 'graphql'
import { must } from '../parse/to-graphql-error.ts'
import { keysOf } from '../resolve/path-keys.ts'
import { contextOf } from '../resolve/resolve-read.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import { type GivenTerms, readGiven } from './argument-value.ts'
import { type Batch, openBatch } from './batch.ts'
import type { FieldGuard, Visit } from './field-guard.ts'
import { type Adopting, adoptRows } from './hydrate-rows.ts'
import { parseReturned } from './parse-returned.ts'
import { type ReturnedShape, toShape } from './returned-shape.ts'
import type { ReturnedType } from './returned-types.ts'

/**
 * Makes of documents that code answered what the fields of generated types find their values in. Their own values
 * stay as code gave them; whatever they lead to is read in one statement for all of them, as the caller may see it.
 */
export function adopter(
  type: GraphQLOutputType,
  types: ReadonlyMap<string, ReturnedType>,
  terms: GivenTerms,
): FieldGuard['adopt'] {
  const returned = types.get(getNamedType(type).name)
  if (!returned) return value => value
  const lists = depthOf(type)
  return async (value, visit) => {
    const { inner } = visit.asked
    if (inner.includes(value)) return value
    const shape = shapeOf(await settled(value), returned, lists)
    // Rows that the generated resolver found are what they should be, wherever code has put them.
    const known = new Set(inner.flatMap(each => shapeOf(each, returned, lists).documents))
    const documents = shape.documents.filter(document => !known.has(document))
    const rows = documents.length === 0 ? [] : await adoptAll(documents, { returned, visit, terms })
    const adopted = new Map(documents.map((document, index) => [document, rows[index] ?? document]))
    return shape.build(shape.documents.map(document => adopted.get(document) ?? document))
  }
}

/** Lists may hold promises, as everywhere in GraphQL. */
const settled = async (value: unknown): Promise<unknown> =>
  Array.isArray(value) ? Promise.all(value.map(settled)) : value

const depthOf = (type: GraphQLOutputType): number => {
  const nullable = getNullableType(type)
  return isListType(nullable) ? 1 + depthOf(nullable.ofType) : 0
}

/** Of a list of generated types, each one's. */
function shapeOf(value: unknown, returned: ReturnedType, lists: number): ReturnedShape {
  if (lists === 0 || !Array.isArray(value)) return toShape(value, returned.wrapper)
  const shapes = value.map(each => shapeOf(each, returned, lists - 1))
  return {
    documents: shapes.flatMap(({ documents }) => documents),
    build(rows) {
      let at = 0
      return shapes.map(({ documents, build }) => {
        const own = rows.slice(at, at + documents.length)
        at += documents.length
        return build(own)
      })
    },
  }
}

interface Place {
  readonly returned: ReturnedType
  readonly visit: Visit
  readonly terms: GivenTerms
}

async function adoptAll(
  documents: readonly AnsweredRow[],
  { returned, visit: { acting, info }, terms }: Place,
): Promise<readonly AnsweredRow[]> {
  const { caller } = acting
  const selection = must(parseReturned(returned, info, contextOf(info, caller, terms)))
  const batches = batchesOf(info.variableValues)
  const reading: Adopting['reading'] = (place, { holder, selection: { populate } }) => {
    const known = batches.get(place)
    if (known) return known
    if (holder.holder !== 'content-type') throw new TypeError('components are read with their documents')
    const batch = openBatch<AnsweredRow, AnsweredRow | null>(given =>
      readGiven({ type: holder, documents: given, populate, caller }, terms),
    )
    batches.set(place, batch)
    return batch
  }
  const { holder } = returned
  return adoptRows({ holder, documents, selection, caller, reading, place: keysOf(info.path) })
}

type Batches = Map<string, Batch<AnsweredRow, AnsweredRow | null>>

/** Variables are one object for the length of one operation: those of the same place below it ask together. */
const BATCHES = new WeakMap<object, Batches>()

export function batchesOf(variables: object): Batches {
  const batches: Batches = BATCHES.get(variables) ?? new Map()
  BATCHES.set(variables, batches)
  return batches
}
