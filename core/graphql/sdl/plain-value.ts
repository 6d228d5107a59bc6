import { graphqlEnumValue } from '../../model/graphql-names.ts'
import type { ScalarAttribute } from '../../model/model.ts'

/** Whether PostgreSQL writes the value as GraphQL does. */
export function isPlain({ type, values }: ScalarAttribute): boolean {
  if (type === 'enumeration') return (values ?? []).every(value => graphqlEnumValue(value) === value)
  return !WRITTEN_OTHERWISE.has(type)
}

const WRITTEN_OTHERWISE: ReadonlySet<string> = new Set(['biginteger', 'timestamp', 'time', 'id'])
