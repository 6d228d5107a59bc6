import type { RestSettings } from '../project/settings/settings.ts'
import type { Schema } from './answer-schemas.ts'

export const words = (names: readonly string[]): Schema => ({ type: 'string', enum: names })

/** Names, and paths through those that lead to other content. */
export const wordsAndPaths = (names: readonly string[], through: readonly string[]): Schema =>
  through.length === 0
    ? words(names)
    : {
        anyOf: [
          words(names),
          { type: 'string', pattern: `^(${through.join('|').replaceAll('$', '\\$')})\\.` },
        ],
      }

type DeepSettings = Pick<RestSettings, 'populateDeep'>

/** What `populate` names. `deep` and `deep,3` are everything, to a depth, if the project declares `rest.populateDeep`. */
export function populateWords(populates: readonly string[], { populateDeep }: DeepSettings): Schema {
  const named = wordsAndPaths([...populates, '*', ...(populateDeep === undefined ? [] : ['deep'])], populates)
  if (populateDeep === undefined) return named
  const depth = { type: 'string', pattern: '^[1-9][0-9]*$', description: 'After `deep`: the depth' }
  return { anyOf: [...(Array.isArray(named.anyOf) ? named.anyOf : [named]), depth] }
}

/** `pLevel`, which is `populate=deep` under another name. */
export const deepParameters = ({ populateDeep }: DeepSettings): readonly Schema[] =>
  populateDeep === undefined
    ? []
    : [
        {
          ...{ name: 'pLevel', in: 'query', allowEmptyValue: true },
          description: `Everything, to this depth; empty: ${populateDeep}`,
          schema: { type: 'integer', minimum: 1 },
        },
      ]
