import type { GraphQLSchema } from 'graphql'
import type { CompiledSchema } from './compile-schema.ts'
import { type CodeTerms, connectSchema } from './connect-schema.ts'
import type { FixedTerms } from './resolve/fixed-field.ts'
import { fixedResolvers } from './resolve/fixed-resolvers.ts'
import { type ResolveTerms, readResolver } from './resolve/resolve-read.ts'
import { writeResolver } from './resolve/resolve-write.ts'
import type { RootField } from './sdl/root-fields.ts'

export interface BuildTerms extends FixedTerms {
  /** What code of the project works with; absent where there is none. */
  readonly code?: CodeTerms
}

/** A compiled schema → one that answers: with the resolvers of root fields, and what the project has round them. */
export function buildSchema(compiled: CompiledSchema, terms: BuildTerms): GraphQLSchema {
  connectSchema(compiled, [rootResolvers(compiled.roots, terms), fixedResolvers(terms)], terms)
  return compiled.schema
}

const rootResolvers = (roots: readonly RootField[], terms: ResolveTerms) => ({
  Query: Object.fromEntries(
    roots.filter(({ root }) => root === 'Query').map(root => [root.name, readResolver(root, terms)]),
  ),
  Mutation: Object.fromEntries(
    roots.filter(({ root }) => root === 'Mutation').map(root => [root.name, writeResolver(root, terms)]),
  ),
})
