import type { ScalarAttribute } from '../model/model.ts'
import type { Selection } from '../query/query.ts'

/** Documents laid out as their reader wants them: under which keys, in which order, in which objects. */
export interface AnswerLayout {
  /** Equal for equal layouts. */
  readonly key: string
  readonly fields: readonly LayoutField[]
}

/** One property of an object. What it shows has to be in the query's selection. */
export type LayoutField = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'documentId' }
  /** Of a component; a text. */
  | { readonly kind: 'id' }
  | { readonly kind: 'scalar'; readonly attribute: ScalarAttribute }
  /** An object round what belongs to the same row. */
  | { readonly kind: 'object'; readonly fields: readonly LayoutField[] }
  /** The rows of the populate of this name, in an object. */
  | { readonly kind: 'link'; readonly of: string; readonly fields: readonly LinkLayoutField[] }
  | { readonly kind: 'component'; readonly of: string; readonly fields: readonly LayoutField[] }
  /** A place that code fills. `row`: the values of the row that the code gets to see; null: an earlier place has them. */
  | { readonly kind: 'code'; readonly at: number; readonly row: readonly ScalarAttribute[] | null }
)

/**
 * What a place of code looks like in the text: `{"from":MARK,"at":0,"row":{…},"to":MARK}`. The mark is a string that
 * no value can be, for PostgreSQL keeps no NUL.
 */
export const CODE_SLOT = { mark: '"\\u0000"', from: '{"from":', to: ',"to":' } as const

/** What stands in the object round the rows of a link. */
export type LinkLayoutField = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'rows'; readonly fields: readonly LayoutField[] }
)

/** Whether all that a layout shows is in a selection: access may have left something out. */
export function isCovered(selection: Selection, fields: readonly LayoutField[]): boolean {
  return fields.every(field => {
    switch (field.kind) {
      case 'scalar':
        return selection.fields.includes(field.attribute)
      case 'object':
        return isCovered(selection, field.fields)
      case 'link': {
        const below = selectionOf(selection, field.of)
        const parts = field.fields.map(part => (part.kind === 'rows' ? part.fields : []))
        return below !== null && parts.every(part => isCovered(below, part))
      }
      case 'component': {
        const below = selectionOf(selection, field.of)
        return below !== null && isCovered(below, field.fields)
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
