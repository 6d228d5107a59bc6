import type { ScalarAttribute } from '../model/model.ts'
import type { Selection } from '../query/query.ts'

/** Documents laid out as their reader wants them: under which keys, in which order, in which objects. */
export interface Layout {
  /** Equal for equal layouts. */
  readonly key: string
  readonly fields: readonly LaidOut[]
}

/** One property of an object. What it shows has to be in the query's selection. */
export type LaidOut = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'documentId' }
  /** Of a component; a text. */
  | { readonly kind: 'id' }
  | { readonly kind: 'scalar'; readonly attribute: ScalarAttribute }
  /** An object round what belongs to the same row. */
  | { readonly kind: 'object'; readonly fields: readonly LaidOut[] }
  /** The rows of the populate of this name, in an object. */
  | { readonly kind: 'link'; readonly of: string; readonly fields: readonly LinkPart[] }
  | { readonly kind: 'component'; readonly of: string; readonly fields: readonly LaidOut[] }
  /** A place that code fills. `row`: the values of the row that the code gets to see; null: an earlier place has them. */
  | { readonly kind: 'code'; readonly at: number; readonly row: readonly ScalarAttribute[] | null }
)

/**
 * What a place of code looks like in the text: `{"from":MARK,"at":0,"row":{…},"to":MARK}`. The mark is a string that
 * no value can be, for PostgreSQL keeps no NUL.
 */
export const CODE_PLACE = { mark: '"\\u0000"', from: '{"from":', to: ',"to":' } as const

/** What stands in the object round the rows of a link. */
export type LinkPart = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'rows'; readonly fields: readonly LaidOut[] }
)

/** Whether all that a layout shows is in a selection: access may have left something out. */
export function covers(selection: Selection, fields: readonly LaidOut[]): boolean {
  return fields.every(field => {
    switch (field.kind) {
      case 'scalar':
        return selection.fields.includes(field.attribute)
      case 'object':
        return covers(selection, field.fields)
      case 'link': {
        const below = selectionOf(selection, field.of)
        const parts = field.fields.map(part => (part.kind === 'rows' ? part.fields : []))
        return below !== null && parts.every(part => covers(below, part))
      }
      case 'component': {
        const below = selectionOf(selection, field.of)
        return below !== null && covers(below, field.fields)
      }
      case 'code':
        return (field.row ?? []).every(attribute => selection.fields.includes(attribute))
      default:
        return true
    }
  })
}

function selectionOf({ populate }: Selection, name: string): Selection | null {
  const found = populate.find(({ as }) => as === name)
  return found && found.kind !== 'zone' ? found.selection : null
}
