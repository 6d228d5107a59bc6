import type { Caller } from '../access/caller.ts'
import { shownTarget } from '../access/readable-attributes.ts'
import { restrict } from '../access/restrict/restrict.ts'
import { fault, forbidden, notFound, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'
import { ALL_ROWS } from '../identity/users/user-values.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
  isLink,
} from '../model/model.ts'
import { everyField } from '../query/populate-nodes.ts'
import { answerJson, answerMethod } from './answer.ts'
import { type EndpointCall, type GeneratedResponder, openEndpoints, wordsBelow } from './endpoint.ts'
import { parseQueryString } from './parse-query-string.ts'
import type { RestOptions } from './rest-call.ts'

/**
 * The content-types and components in Strapi's form, for API tokens: static site generators start with them. A token sees
 * the types and attributes that it may read.
 */
export function openContentTypeBuilder(options: RestOptions): GeneratedResponder {
  return (request, acting) => {
    const [, collection = '', uid, ...others] = wordsBelow(request.path, options.settings.prefix) ?? []
    const list = Object.hasOwn(LISTS, collection) ? LISTS[collection as keyof typeof LISTS] : undefined
    if (!list || others.length > 0 || uid === '') return null
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerMethod(request.method, 'HEAD, GET')
    return answerSchema({ request, acting, uid, list }, options)
  }
}

type ListSchemas = (readable: ReadableSchemas, request: HttpRequest) => readonly { readonly uid: string }[]

interface SchemaCall {
  readonly request: HttpRequest
  readonly acting: Caller | undefined
  /** undefined: all of them. */
  readonly uid: string | undefined
  readonly list: ListSchemas
}

async function answerSchema(
  { request, acting, uid, list }: SchemaCall,
  options: RestOptions,
): Promise<HttpResponse> {
  const caller = acting ?? (await options.identify(request.headers.authorization))
  request.identified = caller
  if (caller.kind !== 'token') throw new RequestFault(forbidden(ONLY_TOKENS))
  const schemas = list(readableSchemas(caller, options), request)
  const data = uid === undefined ? schemas : schemas.find(each => each.uid === uid)
  if (!data) throw new RequestFault(notFound())
  return answerJson(JSON.stringify({ data }), { request })
}

const ONLY_TOKENS = 'Schemas are answered to API tokens only'

/** The content-types and components that a caller may read. */
interface ReadableSchemas {
  readonly types: readonly ContentType[]
  readonly attributesOf: (holder: Holder) => readonly Attribute[]
}

function readableSchemas({ grants }: Caller, { model }: RestOptions): ReadableSchemas {
  const accessOf = (type: ContentType) =>
    grants.readAccess(type, 'find') ?? grants.readAccess(type, 'findOne')
  const types = [...model.contentTypes.values()].filter(type => accessOf(type) !== null)
  const isShown = (attribute: Attribute): boolean =>
    !attribute.system && !attribute.private && !(isLink(attribute) && accessOf(attribute.target) === null)
  const attributesOf = (holder: Holder) => {
    const access = holder.holder === 'content-type' ? accessOf(holder) : null
    const all = [...holder.attributes.values()].filter(isShown)
    return access ? all.filter(attribute => access.readable.has(attribute)) : all
  }
  return { types, attributesOf }
}

const KINDS: ReadonlyMap<unknown, ContentType['kind']> = new Map([
  ['collectionType', 'collection'],
  ['singleType', 'single'],
])

const LISTS = {
  'content-types': listContentTypes,
  components: readable => readableComponents(readable).map(component => printComponent(component, readable)),
} satisfies Record<string, ListSchemas>

function listContentTypes(readable: ReadableSchemas, { search }: HttpRequest) {
  const { kind } = parseQueryString(search)
  const asked = kind === undefined ? null : KINDS.get(kind)
  if (asked === undefined) {
    const message = 'kind must be one of the following values: collectionType, singleType'
    throw new RequestFault(fault('validation', message, { key: 'kind' }))
  }
  return readable.types
    .filter(type => asked === null || type.kind === asked)
    .map(type => printContentType(type, readable))
}

/** The components of readable attributes, also inside other components. */
function readableComponents({ types, attributesOf }: ReadableSchemas): readonly Component[] {
  const found = new Set<Component>()
  const visit = (holder: Holder) => {
    for (const attribute of attributesOf(holder))
      for (const component of componentsOf(attribute)) {
        if (found.has(component)) continue
        found.add(component)
        visit(component)
      }
  }
  for (const type of types) visit(type)
  return [...found]
}

function printContentType(type: ContentType, readable: ReadableSchemas) {
  const { uid, key, displayName, pluralApiId, description = '', kind, tableName } = type
  const plugin = /^plugin::([^.]+)/.exec(uid)?.[1]
  return {
    uid,
    ...(plugin !== undefined && { plugin }),
    apiID: key,
    schema: {
      draftAndPublish: type.draftAndPublish,
      displayName,
      singularName: key,
      pluralName: pluralApiId,
      description,
      pluginOptions: type.localized ? { i18n: { localized: true } } : {},
      kind: kind === 'single' ? 'singleType' : 'collectionType',
      collectionName: tableName,
      attributes: printAttributes(type, readable),
      visible: !type.builtIn,
      restrictRelationsTo: null,
    },
  }
}

function printComponent(component: Component, readable: ReadableSchemas) {
  const { uid, category, key, displayName, description = '', tableName } = component
  const schema = { displayName, description, collectionName: tableName }
  return {
    uid,
    category,
    apiId: key,
    schema: { ...schema, attributes: printAttributes(component, readable) },
  }
}

function printAttributes(holder: Holder, readable: ReadableSchemas) {
  const attributes = readable.attributesOf(holder)
  const names = new Set(attributes.map(({ name }) => name))
  return Object.fromEntries(
    attributes.map(attribute => [attribute.name, printAttribute(attribute, names, readable)]),
  )
}

/** Absent options are left out, as undefined is in JSON. `names`: of the readable attributes of the same holder. */
function printAttribute(
  attribute: Attribute,
  names: ReadonlySet<string>,
  { attributesOf }: ReadableSchemas,
): Readonly<Record<string, unknown>> {
  const { required, localized } = attribute
  const options = localized ? { pluginOptions: { i18n: { localized } } } : {}
  switch (attribute.kind) {
    case 'scalar': {
      const { type, values, unique, regex, default: initial, min, max, minLength, maxLength } = attribute
      const bounds = { default: initial, min, max, minLength, maxLength, regex: regex && toSource(regex) }
      const words = { enum: values, targetField: shownTarget(attribute, names) }
      // Strapi has no arrays of scalars.
      const strapiType = type === 'array' ? 'json' : type
      return { type: strapiType, required, ...(unique && { unique }), ...bounds, ...words, ...options }
    }
    case 'media': {
      const { many, allowedTypes } = attribute
      return { type: 'media', multiple: many, required, private: false, allowedTypes, ...options }
    }
    case 'relation': {
      const { relation, target, side, counterpart } = attribute
      const other = counterpart && attributesOf(target).includes(counterpart) ? counterpart.name : null
      const named = other === null ? {} : { [side === 'owner' ? 'inversedBy' : 'mappedBy']: other }
      return {
        type: 'relation',
        relation,
        target: target.uid,
        ...named,
        targetAttribute: other,
        private: false,
      }
    }
    case 'morph':
      return { type: 'relation', relation: 'morphToMany' }
    case 'localizations':
      return { type: 'relation', relation: 'oneToMany', target: attribute.target.uid }
    case 'component': {
      const { component, repeatable, min, max } = attribute
      return { type: 'component', component: component.uid, repeatable, required, min, max, ...options }
    }
    case 'zone': {
      const { components, min, max } = attribute
      return {
        type: 'dynamiczone',
        components: components.map(({ uid }) => uid),
        required,
        min,
        max,
        ...options,
      }
    }
  }
}

/** Strapi has the expression without slashes and flags. */
const toSource = (regex: object): string => /^\/(.*)\/[a-z]*$/s.exec(String(regex))?.[1] ?? String(regex)

/** The project's locales as a list without an envelope (reference/rest.md#11-locales). */
export const openLocales = (options: RestOptions): GeneratedResponder =>
  openEndpoints(
    {
      'i18n/locales': {
        GET: { subject: 'i18n', action: 'find', perform: call => findLocales(call, options) },
      },
    },
    { ...options, prefix: options.settings.prefix },
  )

async function findLocales(call: EndpointCall, { model, documents }: RestOptions): Promise<HttpResponse> {
  const { locale: type } = model.builtIn
  const take = { kind: 'many', page: { start: 0, limit: model.locales.length }, total: false } as const
  const selection = { ...everyField(type), populate: [] }
  const restricted = restrict({ ...ALL_ROWS, type, take, selection }, call.caller)
  const { text } = await documents.findMany(restricted, 'flat')
  const locales = JSON.parse(text) as readonly { readonly code?: string }[]
  // The project file decides which locale is the default, not the row.
  return answerJson(
    JSON.stringify(locales.map(locale => ({ ...locale, isDefault: locale.code === model.defaultLocale }))),
    call,
  )
}
