import type { ReactNode } from 'react'
import type { JsonRecord, JsonValue } from '../api/json.ts'
import type { AttributeInfo } from '../api/schema.ts'

/**
 * A new value, or a function from the current value to it. A change that follows a request needs the function: the form may have
 * been edited since the render whose values a closure holds.
 */
export type ValueChange = JsonValue | ((current: JsonValue) => JsonValue)

export const applyChange = (change: ValueChange, current: JsonValue): JsonValue =>
  typeof change === 'function' ? change(current) : change

interface FieldProps {
  readonly attribute: AttributeInfo
  readonly path: readonly string[]
  readonly value: JsonValue
  readonly onChange: (change: ValueChange) => void
}

export interface InputProps extends FieldProps {
  readonly id: string
  /** Ids of the elements that describe the input. */
  readonly describedBy: string | undefined
  readonly invalid: boolean
  readonly readOnly: boolean
  readonly dir: 'rtl' | 'ltr' | 'auto'
  /** The other values of the same document or component. */
  readonly siblings: JsonRecord
}

export interface AttributeFieldProps extends FieldProps {
  readonly help: string | null
  readonly siblings: JsonRecord
  readonly children?: ReactNode
}

/** Components and fields are mutually recursive: the field component is passed down to avoid an import cycle. */
export interface HolderProps extends InputProps {
  readonly field: (props: AttributeFieldProps) => ReactNode
}
