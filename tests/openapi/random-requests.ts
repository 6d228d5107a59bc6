import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type Model,
  type ScalarAttribute,
} from '../../core/model/model.ts'
import { numbers, parametersOf, pathOf, type Random } from './random-reads.ts'

/** Ids of documents by the path of their type. */
type Known = ReadonlyMap<string, readonly string[]>

export interface RandomRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Makes reads, writes and mistakes, the same at every run. */
export function openRandomRequests(model: Model, known: Known): () => RandomRequest {
  const random = numbers(20_261_124)
  const types = [...model.contentTypes.values()]
  return () => {
    const type = pick(types, random)
    const chance = random()
    if (!type || chance < 0.1) return mistake(type, random)
    const query = queryOf(type, random)
    const one = `${pathOf(type)}${type.kind === 'single' ? '' : `/${idIn(type, known, random)}`}`
    if (chance < 0.4) return { method: 'GET', path: pathOf(type) + query }
    if (chance < 0.65) return { method: 'GET', path: one + query }
    // People who sign in below and their roles stay as they are.
    if (type.builtIn) return { method: 'GET', path: one + query }
    const some = random() < 0.3 ? query : ''
    if (chance < 0.82 && type.kind === 'collection')
      return { method: 'POST', path: pathOf(type) + some, body: { data: bodyOf(type, known, random) } }
    if (chance < 0.95) return { method: 'PUT', path: one + some, body: { data: bodyOf(type, known, random) } }
    return { method: 'DELETE', path: one + some }
  }
}

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[Math.floor(random() * items.length)]

function idIn(type: ContentType, known: Known, random: Random): string {
  const id = random() < 0.8 ? pick(known.get(pathOf(type)) ?? [], random) : undefined
  return (
    id ?? String(pick(['1', '2', '3', '0', 'abcdefghijklmnopqrstuvwx', '-1', 'x%00', '%F0', "'"], random))
  )
}

function queryOf(type: ContentType, random: Random): string {
  const parameters = [...(random() < 0.6 ? parametersOf(type, random) : [])]
  if (random() < 0.3) parameters.push(filterOf(type, random))
  if (random() < 0.1) parameters.push(String(pick(ODD_PARAMETERS, random)))
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

const ODD_PARAMETERS = [
  ...[
    'pagination[pageSize]=1000',
    'pagination[page]=0',
    'pagination[start]=1&pagination[limit]=2',
    'sort=none:up',
  ],
  ...[
    'status=unknown',
    'status=draft',
    'locale=fr',
    'locale=xx',
    'populate=none',
    'fields[]=id',
    'filters=1',
    'a[b',
  ],
  ...[
    'pagination[withCount]=false',
    'publicationState=preview',
    'populate=deep',
    '%',
    'sort[0]=id&sort[1]=id:desc',
  ],
]

const OPERATORS = [
  '$eq',
  '$ne',
  '$in',
  '$lt',
  '$gte',
  '$contains',
  '$startsWithi',
  '$null',
  '$notNull',
  '$between',
  '$odd',
]

function filterOf(type: ContentType, random: Random): string {
  const attribute = pick([...type.attributes.values()], random)
  const value = attribute?.kind === 'scalar' ? scalarValue(attribute, random) : Math.floor(random() * 9)
  const at = `filters[${attribute?.name}][${pick(OPERATORS, random)}]`
  return `${random() < 0.2 ? at.replace('filters', 'filters[$not]') : at}=${encodeURIComponent(String(value))}`
}

/** Values of most attributes; some are missing, of another type or unknown. */
function bodyOf(holder: Holder, known: Known, random: Random): Readonly<Record<string, unknown>> {
  const chosen = [...holder.attributes.values()].filter(
    each => !each.system && each.kind !== 'morph' && random() < (each.required ? 0.95 : 0.4),
  )
  const entries = chosen.map(attribute => [attribute.name, contentOf(attribute, known, random)])
  return Object.fromEntries(random() < 0.05 ? [...entries, ['unknown', 1]] : entries)
}

function contentOf(attribute: Attribute, known: Known, random: Random): unknown {
  if (attribute.kind === 'scalar')
    return random() < 0.02 ? pick(ODD_VALUES, random) : scalarValue(attribute, random)
  if (attribute.kind === 'component') {
    const made = () => bodyOf(attribute.component, known, random)
    return attribute.repeatable ? [made(), made()].slice(0, Math.ceil(random() * 2)) : made()
  }
  if (attribute.kind === 'zone') {
    const component = pick(attribute.components, random)
    return component ? [{ __component: component.uid, ...bodyOf(component, known, random) }] : []
  }
  const id = isLink(attribute) ? pick(known.get(pathOf(attribute.target)) ?? [], random) : undefined
  if (id === undefined || random() < 0.1) return pick([null, [], 1, { connect: [1] }, 'none', 99_999], random)
  const content = isLink(attribute) && attribute.target.builtIn ? Number(id) : id
  return random() < 0.3 ? { connect: [content] } : [content]
}

const ODD_VALUES = [null, '', 'text', -1, 1e300, true, [], {}, [1], 'é'.repeat(300), '\u0000']

function scalarValue({ type, values, name }: ScalarAttribute, random: Random): unknown {
  const number = Math.floor(random() * (random() < 0.5 ? 6 : 1000))
  switch (type) {
    case 'boolean':
      return number % 2 === 0
    case 'enumeration':
      return pick(values ?? [], random)
    case 'integer':
    case 'biginteger':
    case 'decimal':
    case 'float':
      return number
    case 'date':
      return `2026-01-${String((number % 28) + 1).padStart(2, '0')}`
    case 'datetime':
    case 'timestamp':
      return `2026-01-${String((number % 28) + 1).padStart(2, '0')}T10:00:00.000Z`
    case 'time':
      return '10:30:00.000'
    case 'email':
      return `${name}${number}@example.com`
    case 'json':
      return { number, list: [name] }
    case 'blocks':
      return [{ type: 'paragraph', children: [{ type: 'text', text: name }] }]
    default:
      return `${name}-${number}`
  }
}

/** Requests that no client should make, and those to the other parts of the server. */
function mistake(type: ContentType | undefined, random: Random): RandomRequest {
  const path = type ? pathOf(type) : '/api'
  const other = pick(OTHERS, random) ?? ['GET', '/api']
  const body = random() < 0.5 ? pick(ODD_BODIES, random) : undefined
  const choices: readonly RandomRequest[] = [
    {
      method: other[0],
      path: other[1],
      ...(other[0] !== 'GET' && { body: body ?? { identifier: 'a', password: 'b' } }),
    },
    { method: 'POST', path, ...(body !== undefined && { body }) },
    { method: 'PATCH', path: `${path}/1`, body: {} },
    { method: 'PUT', path, body: { data: {} } },
    { method: 'DELETE', path },
    { method: 'GET', path: `${path}/1/2/3` },
    { method: 'OPTIONS', path },
    { method: 'HEAD', path },
    { method: 'GET', path: `${path}x` },
  ]
  return choices[Math.floor(random() * choices.length)] ?? { method: 'GET', path }
}

const ODD_BODIES = [
  '{',
  '[]',
  '"text"',
  '{"data":1}',
  '{"data":null}',
  '{"data":[]}',
  'null',
  '',
  { data: {}, more: 1 },
]

const OTHERS: readonly (readonly [string, string])[] = [
  ['GET', '/api/users/me?populate=*'],
  ['GET', '/api/users/me/permissions'],
  ['GET', '/api/users/me/keys'],
  ['GET', '/api/users/count'],
  ['GET', '/api/users-permissions/permissions'],
  ['GET', '/api/upload/files/none'],
  ['GET', '/api/auth/email-confirmation?confirmation=none'],
  ['GET', '/api/content-type-builder/content-types'],
  ['GET', '/api/content-type-builder/content-types?kind=singleType'],
  ['GET', '/api/content-type-builder/content-types/api::article.article'],
  ['GET', '/api/content-type-builder/components'],
  ['GET', '/api/content-type-builder/components/none'],
  ['GET', '/api/upload/files?populate=related'],
  ['GET', '/api/connect/none'],
  ['POST', '/api/auth/local'],
  ['POST', '/api/auth/local/register'],
  ['POST', '/api/auth/forgot-password'],
  ['POST', '/api/auth/reset-password'],
  ['POST', '/api/auth/change-password'],
  ['POST', '/api/auth/send-email-confirmation'],
  ['POST', '/api/users'],
  ['POST', '/api/upload'],
  ['PUT', '/api/users/0'],
  ['DELETE', '/api/users/0'],
]
