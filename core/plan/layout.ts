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
)

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
      default:
        return true
    }
  })
}

function selectionOf({ populate }: Selection, name: string): Selection | null {
  const found = populate.find(({ as }) => as === name)
  return found && found.kind !== 'zone' ? found.selection : null
}
