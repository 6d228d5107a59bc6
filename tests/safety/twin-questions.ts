import { OPERATOR_NAMES } from '../../core/query/operators.ts'
import type { Random } from '../end-to-end/fuzz.ts'
import { below, pick } from './random.ts'
import { POSTS, TAGS, word } from './twin-project.ts'

/** Attributes of each type: scalars with no target, the rest with the type or component that they lead to. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  post: {
    ...{ id: '', documentId: '', title: '', secret: '', rank: '', flag: '', about: '', open: '', code: '' },
    ...{ concealed: '', locale: '', updatedAt: '', publishedAt: '', localizations: 'post' },
    ...{ owner: 'user', category: 'category', tags: 'tag', related: 'post', badge: 'tag', owned: 'tag' },
    ...{ vault: 'vault', cover: 'file', gallery: 'file', seo: 'c.seo', parts: 'c.part', body: 'zone' },
  },
  tag: {
    id: '',
    documentId: '',
    label: '',
    secret: '',
    open: '',
    posts: 'post',
    badged: 'post',
    updatedAt: '',
  },
  category: { id: '', documentId: '', name: '', secret: '', open: '', posts: 'post' },
  page: { id: '', name: '', featured: 'post', body: 'zone' },
  user: {
    ...{ id: '', username: '', email: '', password: '', confirmed: '', resetPasswordToken: '' },
    ...{ posts: 'post', favourite: 'category', role: 'role' },
  },
  role: { id: '', name: '', users: 'user' },
  vault: { id: '', name: '' },
  file: { id: '', name: '', caption: '', url: '', related: 'related' },
  'c.seo': { id: '', text: '', concealed: '', pick: 'tag', image: 'file' },
  'c.part': { id: '', text: '', picks: 'post', inner: 'c.seo', safe: 'vault' },
  zone: {},
  related: {},
}

/** A source of numbers for questions that do not name these attributes. */
export type Draw = Random & { readonly leavesOut: ReadonlySet<string> }

const REFUSED = [
  'concealed',
  'secret',
  'password',
  'resetPasswordToken',
  'email',
  'confirmed',
  'vault',
  'safe',
  'role',
]

/** Nearly all questions that name an unreadable attribute are refused: most leave them out. */
export const drawing = (
  random: Random,
  hidden: readonly string[],
): { readonly tame: Draw; readonly bold: Draw } => ({
  tame: Object.assign(() => random(), { leavesOut: new Set([...REFUSED, ...hidden]) }),
  bold: Object.assign(() => random(), { leavesOut: new Set<string>() }),
})

const attributesOf = ({ leavesOut }: Draw, shape: string): readonly (readonly [string, string])[] =>
  Object.entries(SHAPES[shape] ?? {}).filter(([name]) => !leavesOut.has(name))

const VALUES = ['1', '2', '3', 'true', 'false', 'p2', 'p3', 't2', 'v1', 'ann', 'bob', 'first', '5', '0']
const value = (random: Draw) => (random() < 0.5 ? word(random) : pick(random, VALUES))

type Tree = string | readonly Tree[] | { readonly [key: string]: Tree }

function filter(random: Draw, shape: string, depth: number): Tree {
  const dice = random()
  if (depth > 0 && dice < 0.15) return { $not: filter(random, shape, depth - 1) }
  if (depth > 0 && dice < 0.3)
    return {
      [random() < 0.5 ? '$or' : '$and']: [filter(random, shape, depth - 1), filter(random, shape, depth - 1)],
    }
  const entry = attributesOf(random, shape)
  if (entry.length === 0) return { id: { $notNull: 'true' } }
  const [name, target] = pick(random, entry)
  if (target && depth > 0 && random() < 0.85) return { [name]: filter(random, target, depth - 1) }
  const operator = pick(
    random,
    name === 'id' || /At$/.test(name) || BOOLEANS.has(name)
      ? (['$null', '$notNull', '$null'] as const)
      : OPERATOR_NAMES,
  )
  if (operator === '$between') return { [name]: { [operator]: ['0', value(random)] } }
  if (/ull$/.test(operator)) return { [name]: { [operator]: pick(random, ['true', 'false']) } }
  return { [name]: { [operator]: value(random) } }
}

function path(random: Draw, shape: string, depth: number): string {
  const [name, target] = pick(
    random,
    attributesOf(random, shape).length ? attributesOf(random, shape) : [['id', '']],
  )
  if (!target || depth === 0 || attributesOf(random, target).length === 0) return name
  return `${name}.${path(random, target, depth - 1)}`
}

const sort = (random: Draw, shape: string): Tree =>
  path(random, shape, 2) + pick(random, ['', ':desc', ':asc', ',id'])

function populate(random: Draw, shape: string, depth: number): Tree {
  const links = attributesOf(random, shape).filter(([, target]) => target !== '')
  if (links.length === 0 || random() < 0.15) return '*'
  const tree: Record<string, Tree> = {}
  for (const [name, target] of links) {
    if (random() < 0.55) continue
    tree[name] = inner(random, target, depth)
  }
  return tree
}

function inner(random: Draw, target: string, depth: number): Tree {
  if (depth === 0 || random() < 0.15) return 'true'
  if (target === 'zone')
    return {
      on: {
        'c.seo': { populate: populate(random, 'c.seo', depth - 1) },
        'c.part': { populate: populate(random, 'c.part', depth - 1) },
      },
    }
  if (target === 'related')
    return pick<Tree>(random, ['true', { count: 'true' }, { on: { 'api::post.post': 'true' } }])
  const option: Record<string, Tree> = {}
  const scalars = attributesOf(random, target).filter(([, to]) => to === '')
  if (random() < 0.2) option.count = 'true'
  if (random() < 0.3) option.filters = filter(random, target, 2)
  if (random() < 0.3) option.sort = sort(random, target)
  if (random() < 0.15) option.fields = [pick(random, scalars)[0]]
  if (random() < 0.7) option.populate = populate(random, target, depth - 1)
  return Object.keys(option).length ? option : 'true'
}

function print(key: string, tree: Tree): readonly string[] {
  if (typeof tree === 'string') return [`${key}=${encodeURIComponent(tree)}`]
  return Object.entries(tree).flatMap(([name, below]) => print(`${key}[${name}]`, below))
}

const PLURALS = {
  post: 'posts',
  tag: 'tags',
  category: 'categories',
  page: 'page',
  user: 'users',
  file: 'upload/files',
}

export interface Question {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

export const IDS = [...POSTS, ...TAGS, 'c1', 'c2', 'v1', 'nothing']

export function restQuestion(random: Draw): Question {
  const shape = pick(random, [
    'post',
    'post',
    'post',
    'tag',
    'tag',
    'category',
    'page',
    'user',
    'file',
  ] as const)
  const parts: string[] = []
  const add = (chance: number, key: string, make: () => Tree) => {
    if (random() < chance) parts.push(...print(key, make()))
  }
  add(0.35, 'filters', () => filter(random, shape, 3))
  add(0.3, 'sort', () => sort(random, shape))
  add(0.1, 'fields', () => [pick(random, attributesOf(random, shape))[0]])
  add(0.6, 'populate', () => populate(random, shape, 3))
  add(0.1, '_q', () => word(random))
  if (shape === 'post') {
    add(0.1, 'search', () => word(random))
    add(0.1, 'highlight', () => pick(random, ['true', 'title', 'secret', 'body']))
    add(0.25, 'status', () => pick(random, ['draft', 'published']))
    add(0.1, 'publicationFilter', () =>
      pick(random, [
        'modified',
        'unmodified',
        'never-published',
        'published-without-draft',
        'has-published-version',
      ]),
    )
  }
  add(0.25, 'locale', () => pick<Tree>(random, ['fr', 'en', '*', 'fr']))
  add(0.2, 'pagination', () => ({ page: pick(random, ['1', '2']), pageSize: pick(random, ['1', '2', '3']) }))
  if (random() < 0.15) parts.push('pagination[after]=', 'pagination[pageSize]=1')
  else if (random() < 0.1) parts.push('pagination[start]=1', 'pagination[limit]=1')
  const one = random() < 0.3 && shape !== 'page'
  const id = shape === 'user' || shape === 'file' ? String(1 + below(random, 4)) : pick(random, IDS)
  const way = `/api/${PLURALS[shape]}${one ? `/${id}` : ''}?${parts.join('&')}`
  return {
    method: random() < 0.05 ? 'HEAD' : 'GET',
    path: way,
    ...(random() < 0.1 ? { headers: { 'strapi-response-format': 'v4' } } : {}),
  }
}

const BOOLEANS = new Set(['open', 'flag', 'confirmed', 'rank'])
const QUOTED = new Set([
  'title',
  'secret',
  'about',
  'code',
  'concealed',
  'label',
  'name',
  'text',
  'username',
  'email',
])

function graphqlFilter(random: Draw, shape: string, depth: number): string {
  const dice = random()
  if (depth > 0 && dice < 0.15) return `{ not: ${graphqlFilter(random, shape, depth - 1)} }`
  if (depth > 0 && dice < 0.3)
    return `{ or: [${graphqlFilter(random, shape, depth - 1)}, ${graphqlFilter(random, shape, depth - 1)}] }`
  const usable = attributesOf(random, shape)
    .filter(([, to]) => !['zone', 'file', 'related'].includes(to))
    .filter(([name]) => !['id', 'documentId', 'concealed', 'password', 'resetPasswordToken'].includes(name))
  if (usable.length === 0) return '{}'
  const [name, target] = pick(random, usable)
  if (target) return `{ ${name}: ${depth > 0 ? graphqlFilter(random, target, depth - 1) : '{ }'} }`
  if (!QUOTED.has(name)) return `{ ${name}: { ${pick(random, ['null', 'notNull'])}: true } }`
  const operator = pick(random, ['eq', 'ne', 'contains', 'notContains', 'startsWith', 'gt', 'lte', 'eqi'])
  return `{ ${name}: { ${operator}: "${word(random)}" } }`
}

const MANY = new Set([
  'tags',
  'related',
  'owned',
  'gallery',
  'posts',
  'picks',
  'featured',
  'localizations',
  'users',
])

function args(random: Draw, shape: string, many: boolean): string {
  if (!many) return ''
  const list: string[] = []
  if (random() < 0.3) list.push(`filters: ${graphqlFilter(random, shape, 2)}`)
  if (random() < 0.3) list.push(`sort: "${path(random, shape, 2)}${pick(random, ['', ':desc'])}"`)
  if (random() < 0.2) list.push('pagination: { pageSize: 2 }')
  return list.length ? `(${list.join(', ')})` : ''
}

const TYPES: Readonly<Record<string, string>> = { 'c.seo': 'ComponentCSeo', 'c.part': 'ComponentCPart' }

const NOT_IN_GRAPHQL = new Set(['id', 'concealed', 'password', 'resetPasswordToken', 'users'])

/** The fields of a document, or of the attributes of one in the nested format. */
function fieldsOf(random: Draw, shape: string, depth: number, flat: boolean): string {
  const usable = attributesOf(random, shape)
    .filter(([name, target]) => !NOT_IN_GRAPHQL.has(name) && target !== 'related')
    .filter(([name, target]) => (target === '' || depth > 0) && (flat || name !== 'documentId'))
    .filter(() => random() < 0.4)
  const picked = usable.map(([name, target]) =>
    target === '' ? name : linkField(random, name, target, depth, flat),
  )
  return `{ __typename ${picked.join(' ')} }`
}

function linkField(random: Draw, name: string, target: string, depth: number, flat: boolean): string {
  if (target === 'zone')
    return `${name} { __typename ${Object.entries(TYPES)
      .map(([shape, type]) => `... on ${type} ${fieldsOf(random, shape, depth - 1, flat)}`)
      .join(' ')} }`
  const given = args(random, target, MANY.has(name) || name === 'parts')
  const fields = fieldsOf(random, target, depth - 1, flat)
  if (target.startsWith('c.')) return `${name}${given} ${fields}`
  if (!flat) return `${name}${given} { data { id attributes ${fields} } }`
  if (MANY.has(name) && random() < 0.5) return `${name}_connection${given} { nodes ${fields} }`
  return `${name}${given} ${fields}`
}

const LISTS = { post: 'posts', tag: 'tags', category: 'categories', user: 'usersPermissionsUsers' } as const

export function graphqlQuestion(random: Draw): Question {
  const flat = random() < 0.5
  const shape = pick(random, ['post', 'post', 'tag', 'category', 'page', 'user'] as const)
  const single = shape === 'page' || (random() < 0.25 && shape !== 'user')
  const fields = fieldsOf(random, shape, 3, flat)
  const query = single
    ? oneDocument(random, { shape, fields, flat })
    : listed(random, { shape, fields, flat })
  return { method: 'POST', path: flat ? '/graphql5' : '/graphql', body: JSON.stringify({ query }) }
}

interface Selection {
  readonly shape: 'page' | keyof typeof LISTS
  readonly fields: string
  readonly flat: boolean
}

function oneDocument(random: Draw, { shape, fields, flat }: Selection): string {
  const given = shape === 'page' ? '' : `(${flat ? 'documentId' : 'id'}: "${pick(random, IDS)}")`
  return `{ ${shape}${given} ${flat ? fields : `{ data { id attributes ${fields} } }`} }`
}

function listed(random: Draw, { shape, fields, flat }: Selection): string {
  const list = [
    random() < 0.4 ? `filters: ${graphqlFilter(random, shape, 3)}` : '',
    random() < 0.4 ? `sort: "${path(random, shape, 2)}"` : '',
    random() < 0.3 ? 'pagination: { page: 1, pageSize: 2 }' : '',
    shape === 'post' && random() < 0.2 ? VERSIONS[flat ? 'flat' : 'nested'] : '',
  ].filter(text => text !== '')
  const given = list.length > 0 ? `(${list.join(', ')})` : ''
  const many = shape === 'page' ? shape : LISTS[shape]
  if (!flat)
    return `{ ${many}${given} { data { id attributes ${fields} } meta { pagination { total pageCount } } } }`
  if (random() < 0.5) return `{ ${many}_connection${given} { nodes ${fields} pageInfo { total page } } }`
  return `{ ${many}${given} ${fields} }`
}

const VERSIONS = { flat: 'status: DRAFT', nested: 'publicationState: PREVIEW' } as const
