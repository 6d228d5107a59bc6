import { createContext, useContext } from 'react'
import type { ApiSchema } from '../api/schema.ts'

const SchemaContext = createContext<ApiSchema | null>(null)

export const SchemaProvider = SchemaContext.Provider

/** What the caller may do; only below the signed-in part of the page. */
export function useSchema(): ApiSchema {
  const schema = useContext(SchemaContext)
  if (!schema) throw new Error('The schema is read before anything that uses it')
  return schema
}
