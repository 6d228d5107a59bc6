import type { GraphQLResolveInfo } from 'graphql'
import type { LaidOut } from '../../plan/layout.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import type { CodeField, CodeRow } from './custom-field.ts'

/** Where a value lies in the answer. */
export type AnswerPath = GraphQLResolveInfo['path']

/** One place of code in a text. */
export interface PlaceFound {
  readonly field: CodeField
  /** What code sees. */
  readonly row: AnsweredRow
  readonly path: AnswerPath
}

/** The keys of an object that are places of code, or lead to some, in the order of the text. */
export type Steps = readonly Step[]

type Step =
  | { readonly key: string; readonly kind: 'place'; readonly at: number }
  | { readonly key: string; readonly kind: 'inner'; readonly steps: Steps }

/** Empty: there is no place below. */
export function stepsOf(fields: readonly LaidOut[]): Steps {
  return fields.flatMap((field): readonly Step[] => {
    if (field.kind === 'code') return [{ key: field.as, kind: 'place', at: field.at }]
    if (field.kind === 'link') {
      const parts = field.fields.flatMap(part =>
        part.kind === 'rows' ? inner(part.as, stepsOf(part.fields)) : [],
      )
      return inner(field.as, parts)
    }
    return 'fields' in field ? inner(field.as, stepsOf(field.fields)) : []
  })
}

const inner = (key: string, steps: Steps): Steps =>
  steps.length === 0 ? [] : [{ key, kind: 'inner', steps }]

interface Search {
  readonly steps: Steps
  readonly code: readonly CodeField[]
  /** Where the text itself lies. */
  readonly root: AnswerPath
}

/** The places of code in a text, in the order in which they stand there. */
export function findPlaces(text: string, { steps, code, root }: Search): readonly PlaceFound[] {
  const found: PlaceFound[] = []
  visit(JSON.parse(text), steps, root)
  return found

  function visit(value: unknown, steps: Steps, path: AnswerPath): void {
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) visit(one, steps, below(path, index))
    } else if (isObject(value)) visitObject(value, steps, path)
  }

  function visitObject(value: AnsweredRow, steps: Steps, path: AnswerPath): void {
    let row: AnsweredRow | undefined
    for (const step of steps) {
      const here = value[step.key]
      if (step.kind === 'inner') {
        visit(here, step.steps, below(path, step.key))
        continue
      }
      const field = code[step.at]
      if (!field) throw new TypeError(`nobody asked for place ${step.at} of the text`)
      row ??= rowOf(value, here, field.row)
      found.push({ field, row, path: below(path, step.key, field.parentType.name) })
    }
  }
}

const below = (prev: AnswerPath, key: string | number, typename?: string): AnswerPath => ({
  prev,
  key,
  typename,
})

const isObject = (value: unknown): value is AnsweredRow => typeof value === 'object' && value !== null

/** What stands in the object, and beside it in the first of its places. */
function rowOf(object: AnsweredRow, place: unknown, { written }: CodeRow): AnsweredRow {
  const row: Record<string, unknown> = isObject(place) && isObject(place.row) ? place.row : {}
  for (const [key, name] of written) row[name] = object[key]
  return row
}
