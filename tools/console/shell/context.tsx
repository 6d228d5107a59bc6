import { createContext, useContext } from 'react'
import type { ApiSchema } from '../api/schema.ts'

const SchemaContext = createContext<ApiSchema | null>(null)

export const SchemaProvider = SchemaContext.Provider

/** Throws outside of SchemaProvider, which only the signed-in part of the page has. */
export function useSchema(): ApiSchema {
  const schema = useContext(SchemaContext)
  if (!schema) throw new Error('useSchema needs a SchemaProvider')
  return schema
}
