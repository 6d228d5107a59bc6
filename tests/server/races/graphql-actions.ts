import type { Action } from './action.ts'
import { askGraphql, type Cast, hasDrafts, type Instance, isList, isTwoWay, type Side } from './world.ts'

/** The same writes as over REST, as mutations: they keep the state of a document unless `publishedAt` is given. */
export function graphqlActions(side: Side): Readonly<Record<string, Action>> {
  const type = side === 'owner' ? 'Owner' : 'Target'
  const update = (dataOf: (cast: Cast) => object) => (instance: Instance, cast: Cast) =>
    mutate(instance, {
      name: `update${type}`,
      parameters: `$id: ID!, $data: ${type}Input!`,
      values: { id: cast[side], data: dataOf(cast) },
    })
  const links = ({ kind }: Pick<Cast, 'kind'>) => side === 'owner' || isTwoWay(kind)
  const published = ({ shape }: Pick<Cast, 'shape'>) => hasDrafts(shape, side)
  const actions: Record<string, Action> = {
    set: { suits: links, run: update(cast => linkTo(cast, side, 'first')) },
    'set to the second': { suits: links, run: update(cast => linkTo(cast, side, 'second')) },
    clear: { suits: links, run: update(cast => linkTo(cast, side, 'none')) },
    'update of another attribute': { run: update(() => ({ n: 17 })) },
    publish: { suits: published, run: update(() => ({ publishedAt: '2024-05-01T08:00:00Z' })) },
    unpublish: { suits: published, run: update(() => ({ publishedAt: null })) },
    'publish with a link': {
      suits: cast => published(cast) && links(cast),
      run: update(cast => ({ publishedAt: '2024-05-01T08:00:00Z', ...linkTo(cast, side, 'first') })),
    },
    delete: {
      run: (instance, cast) =>
        mutate(instance, { name: `delete${type}`, parameters: '$id: ID!', values: { id: cast[side] } }),
    },
    ...creations(side, type),
  }
  return Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [`${side} GraphQL ${name}`, action]),
  )
}

function creations(side: Side, type: string): Readonly<Record<string, Action>> {
  const links = ({ kind }: Pick<Cast, 'kind'>) => side === 'owner' || isTwoWay(kind)
  const create = (more: object) => (instance: Instance, cast: Cast) =>
    mutate(instance, {
      name: `create${type}`,
      parameters: `$data: ${type}Input!`,
      values: {
        data: { label: `new ${side}`, round: cast.round, ...linkTo(cast, side, 'first'), ...more },
      },
    })
  return {
    'create with a link': { suits: links, run: create({}) },
    'create of a published one with a link': {
      suits: cast => links(cast) && hasDrafts(cast.shape, side),
      run: create({ publishedAt: '2024-05-01T08:00:00Z' }),
    },
    translate: {
      suits: cast => links(cast) && cast.shape === 'localized',
      run: (instance, cast) =>
        mutate(instance, {
          name: `create${type}Localization`,
          parameters: `$id: ID!, $locale: I18NLocaleCode!, $data: ${type}Input!`,
          values: {
            id: cast[side],
            locale: 'fr',
            data: { label: `${side} in French`, round: cast.round, n: 19, ...linkTo(cast, side, 'first') },
          },
        }),
    },
  }
}

/** The attribute with a link to one of the other side's documents, or to none. */
function linkTo(cast: Cast, side: Side, which: 'first' | 'second' | 'none'): object {
  const [first, second] = side === 'owner' ? [cast.target, cast.otherTarget] : [cast.owner, cast.otherOwner]
  const id = which === 'none' ? null : which === 'first' ? first : second
  if (!isList(cast.kind, side)) return { [cast.kind]: id }
  return { [cast.kind]: id === null ? [] : [id] }
}

interface Mutation {
  readonly name: string
  /** The variables of the operation, each for the argument of its name. */
  readonly parameters: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Answers whether it was done. Rejects where the server failed. */
async function mutate(instance: Instance, { name, parameters, values }: Mutation): Promise<boolean> {
  const input = Object.keys(values).map(key => `${key}: $${key}`)
  const query = `mutation (${parameters}) { ${name}(${input.join(', ')}) { data { id } } }`
  const { data, errors = [] } = await askGraphql(instance, query, values)
  const [error] = errors
  if (!error) return (data as Readonly<Record<string, { data: unknown }>>)[name]?.data !== null
  if (!REFUSALS.has(String(error.extensions.code))) throw new Error(`${name}: ${JSON.stringify(errors)}`)
  return false
}

const REFUSALS: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'STRAPI_APPLICATION_ERROR',
  'STRAPI_NOT_FOUND_ERROR',
])
