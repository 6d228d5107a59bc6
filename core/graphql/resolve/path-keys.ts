import type { GraphQLResolveInfo } from 'graphql'

type AnswerPath = GraphQLResolveInfo['path'] | undefined

/** The field that a path ends in or lies in: indexes of lists are passed over. */
export const fieldOf = (path: AnswerPath): AnswerPath =>
  typeof path?.key === 'number' ? fieldOf(path.prev) : path

/** The key of that field in the answer; of none, a word that no field can be asked for by. */
export const fieldKey = (path: AnswerPath): string => String(fieldOf(path)?.key ?? ':')

/** The key of the field above. */
export const keyAbove = (path: AnswerPath): string => fieldKey(fieldOf(path)?.prev)

/** The keys of the fields down to a place, the same for all rows of a list. */
export const keysOf = (path: AnswerPath): string => {
  const field = fieldOf(path)
  return field ? `${keysOf(field.prev)}.${field.key}` : ''
}
