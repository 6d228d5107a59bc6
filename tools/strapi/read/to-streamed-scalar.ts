import type { ScalarAttribute } from '../../../core/model/model.ts'

const BCRYPT = /^\$2[aby]\$\d\d\$.{53}$/

/** A value as PostgreSQL writes it, in the words of the stream; undefined for one that says nothing. */
export function toStreamedScalar({ type }: ScalarAttribute, text: string): unknown {
  switch (type) {
    case 'password':
      return BCRYPT.test(text) ? { hash: text } : undefined
    case 'json':
    case 'blocks':
    case 'array':
      return JSON.parse(text) ?? undefined
    case 'boolean':
      return text === 'true'
    case 'integer':
    case 'float':
    case 'decimal':
      return Number(text)
    case 'enumeration':
    case 'uid':
    case 'email':
      return text === '' ? undefined : text
    default:
      return text
  }
}
