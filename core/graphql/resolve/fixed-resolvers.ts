import type { IResolvers } from '@graphql-tools/utils'
import type { GraphQLFieldResolver } from 'graphql'
import { forbidden } from '../../faults/fault.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { toGraphqlError } from '../parse/to-graphql-error.ts'
import type { FixedField, FixedTerms } from './fixed-field.ts'
import type { Acting } from './resolve-read.ts'
import { meField, signInFields } from './sign-in-fields.ts'
import { uploadFields } from './upload-fields.ts'
import { userFields } from './user-fields.ts'

/** The resolvers of fixed-definitions.ts. */
export const fixedResolvers = (terms: FixedTerms): IResolvers => ({
  Query: toResolvers({ me: meField(terms) }),
  Mutation: toResolvers({ ...signInFields(terms), ...userFields(terms), ...uploadFields(terms) }),
})

type Resolver = GraphQLFieldResolver<unknown, Acting, Arguments>

const toResolvers = (fields: Readonly<Record<string, FixedField>>): Record<string, Resolver> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toResolver(field)]))

const toResolver =
  ({ allows, resolve }: FixedField): Resolver =>
  async (_parent, given, acting, info) => {
    if (!(await allows(acting))) throw toGraphqlError(forbidden())
    return resolve(given, acting, info)
  }
