import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { GraphQLSchema } from 'graphql'
import type { Nexus } from '../../plugins/services/graphql-service.ts'

/** nexus as the project has it, and the GraphQL library that it works with, which may be another copy than ours. */
export interface NexusLibrary {
  readonly nexus: Nexus
  readonly graphql: typeof import('graphql')
  makeSchema(terms: Readonly<Record<string, unknown>>): GraphQLSchema
}

/** Where the package is looked for: in the project, then beside the server itself. */
export const nexusPlaces = (root: string): readonly string[] => [join(root, 'project.yaml'), import.meta.url]

/** An optional package: it is loaded when an extension asks for it. Throws Error, in a sentence, where it is not installed. */
export function loadNexus(places: readonly string[]): NexusLibrary {
  for (const from of places) {
    const require = createRequire(from)
    const path = resolveFrom(require)
    if (path === null) continue
    const nexus = require(path)
    return { nexus, graphql: createRequire(path)('graphql'), makeSchema: nexus.makeSchema }
  }
  throw new Error('it needs the package nexus, which is not installed: npm install nexus')
}

function resolveFrom(require: NodeJS.Require): string | null {
  try {
    return require.resolve('nexus')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}
