import type { ScalarAttribute } from '../model/model.ts'
import type { Selection } from '../query/query.ts'

/** The shape of documents in the answer: keys, their order and their nesting. */
export interface AnswerLayout {
  /** Equal for equal layouts. */
  readonly key: string
  readonly fields: readonly LayoutField[]
}

/** One property of an object. The query's selection must contain what it shows. */
export type LayoutField = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'documentId' }
  /** The id of a component, as text. */
  | { readonly kind: 'id' }
  | { readonly kind: 'scalar'; readonly attribute: ScalarAttribute }
  /** An object around properties of the same row. */
  | { readonly kind: 'object'; readonly fields: readonly LayoutField[] }
  /** The rows of the populate of this name. */
  | { readonly kind: 'rows'; readonly of: string; readonly fields: readonly LayoutField[] }
  /** An object that contains the rows of the populate of this name. */
  | { readonly kind: 'link'; readonly of: string; readonly fields: readonly LinkLayoutField[] }
  | { readonly kind: 'component'; readonly of: string; readonly fields: readonly LayoutField[] }
  /** The entries of a dynamic zone. */
  | { readonly kind: 'zone'; readonly of: string; readonly parts: readonly LayoutPart[] }
  /** A slot that project code fills. `row`: the values that the code receives; null: an earlier slot of the row has them. */
  | { readonly kind: 'code'; readonly at: number; readonly row: readonly ScalarAttribute[] | null }
)

/** The entries of one component in a dynamic zone. `component`: its uid. */
export interface LayoutPart {
  readonly component: string
  readonly fields: readonly LayoutField[]
}

/**
 * The form of a code slot in the text: `{"from":MARK,"at":0,"row":{…},"to":MARK}`. No value can equal the mark, because
 * PostgreSQL stores no NUL.
 */
export const CODE_SLOT = { mark: '"\\u0000"', from: '{"from":', to: ',"to":' } as const

/** One property of the object around the rows of a link. */
export type LinkLayoutField = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'rows'; readonly fields: readonly LayoutField[] }
)

/** True if a selection contains everything that a layout shows: access may have removed attributes. */
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
      case 'rows':
      case 'component': {
        const below = selectionOf(selection, field.of)
        return below !== null && isCovered(below, field.fields)
      }
      case 'zone': {
        const zone = selection.populate.find(({ as }) => as === field.of)
        return field.parts.every(({ component, fields: inner }) => {
          const part =
            zone?.kind === 'zone' ? zone.parts.find(({ holder }) => holder.uid === component) : undefined
          return part !== undefined && isCovered(part.selection, inner)
        })
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
  return found && 'selection' in found ? found.selection : null
}
