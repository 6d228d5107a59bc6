import type { Caller, Grants } from '../access/caller.ts'
import { type ConsoleView, consoleViewsOf } from '../access/console-views.ts'
import { readableAttributes, shownTarget } from '../access/readable-attributes.ts'
import { type Attribute, apiIdOf, type Component, type ContentType, type Model } from '../model/model.ts'
import { DOCUMENT_PLACEHOLDERS, previewPlaceholders, SYSTEM_COLUMNS } from '../project/checks/console.ts'
import type { ConsoleLayout, Settings } from '../project/settings/settings.ts'
import { type BuiltInOptions, TEXT } from './account-paths.ts'
import { closed, type Schema } from './answer-schemas.ts'
import { errorResponses, jsonResponse, type PathItem } from './operations.ts'
import { isInBody, isWritable } from './request-schemas.ts'

/**
 * `x-plinth` of the OpenAPI document: what JSON Schema cannot say of the content-types, for programs that build forms
 * (the console). It has the types that the caller may find or create, and of these only the attributes that the caller may
 * read or write.
 */
export function describeForms(
  { model, settings }: { readonly model: Model; readonly settings: Settings },
  caller: Caller,
): Schema {
  const { grants } = caller
  const types = [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  const described = types.flatMap(type => {
    const found = describeType(type, grants)
    return found ? [{ ...found, layout: settings.contentTypes[type.key]?.console }] : []
  })
  const read = componentsOf(
    described.flatMap(({ readable }) => readable),
    (component, attribute) => readableAttributes(component).has(attribute),
  )
  const written = componentsOf(
    described.flatMap(({ writable }) => writable),
    (_, attribute) => isWritable(attribute, grants),
  )
  return {
    name: settings.name,
    locales: model.locales.map(({ code }) => code),
    defaultLocale: model.defaultLocale,
    upload: grants.allows('upload', 'upload') ? { maxFileSize: settings.upload.sizeLimit } : null,
    users: describeUsers(model.builtIn.user, grants),
    views: [...consoleViewsOf(caller, settings)],
    types: described.map(each => ({
      ...each.schema,
      ...(each.layout && { console: describeLayout(each.layout, each) }),
    })),
    components: [...new Set([...read, ...written])].map(component => ({
      uid: component.uid,
      kind: 'component',
      attributes: describeAttributes(
        [...component.attributes.values()].map(attribute => ({
          attribute,
          readable:
            read.has(component) && readableAttributes(component).has(attribute) && canFind(attribute, grants),
          writable: written.has(component) && isWritable(attribute, grants),
        })),
      ),
    })),
  }
}

/** Users as targets of relations; null: the caller may not find them. */
function describeUsers(user: ContentType, grants: Grants): Schema | null {
  const access = grants.readAccess(user, 'find')
  if (access === null) return null
  const readable = [...user.attributes.values()].filter(attribute => access.readable.has(attribute))
  return {
    uid: user.uid,
    singularName: user.key,
    pluralName: user.pluralApiId,
    path: '/users',
    attributes: describeAttributes(
      readable.map(attribute => ({ attribute, readable: canFind(attribute, grants), writable: false })),
    ),
  }
}

interface DescribedType {
  readonly schema: Schema
  readonly readable: readonly Attribute[]
  readonly writable: readonly Attribute[]
}

/** The layout without the attributes that the caller may neither read nor write; no preview if its address needs one of them. */
function describeLayout(layout: ConsoleLayout, { readable, writable }: DescribedType): Schema {
  const shown = new Set([...readable, ...writable].map(({ name }) => name))
  const read = new Set(readable.map(({ name }) => name))
  const { label, columns, groups = [], help, hidden, preview } = layout
  const hasValues = previewPlaceholders(preview ?? '').every(
    name => read.has(name) || DOCUMENT_PLACEHOLDERS.includes(name),
  )
  return {
    ...(label !== undefined && read.has(label) && { label }),
    columns: columns.filter(name => read.has(name) || SYSTEM_COLUMNS.includes(name)),
    groups: groups
      .map(group => ({ ...group, attributes: group.attributes.filter(name => shown.has(name)) }))
      .filter(({ attributes }) => attributes.length > 0),
    help: Object.fromEntries(Object.entries(help).filter(([name]) => shown.has(name))),
    hidden: hidden.filter(name => shown.has(name)),
    ...(preview !== undefined && hasValues && { preview }),
  }
}

/** null: the caller may neither find documents of the type nor create them. */
function describeType(type: ContentType, grants: Grants): DescribedType | null {
  const reads = [grants.readAccess(type, 'find'), grants.readAccess(type, 'findOne')]
  const writes = [grants.writeAccess(type, 'create'), grants.writeAccess(type, 'update')]
  if (![...reads, ...writes].some(access => access !== null)) return null
  const attributes = [...type.attributes.values()].map(attribute => ({
    attribute,
    readable: canFind(attribute, grants) && reads.some(access => access?.readable.has(attribute)),
    writable: writes.some(access => access !== null && isInBody(attribute, access, grants)),
  }))
  const actions = CONTENT.filter(action => grants.allows(type.key, action))
  const drafts = reads.some(access => access !== null && access.drafts !== null)
  return {
    readable: attributes.filter(({ readable }) => readable).map(each => each.attribute),
    writable: attributes.filter(({ writable }) => writable).map(each => each.attribute),
    schema: {
      uid: type.uid,
      kind: type.kind === 'single' ? 'singleType' : 'collectionType',
      singularName: type.key,
      pluralName: type.pluralApiId,
      path: `/${apiIdOf(type)}`,
      displayName: type.displayName,
      draftAndPublish: type.draftAndPublish,
      localized: type.localized,
      actions: [...actions, ...(drafts && type.draftAndPublish ? ['readDrafts'] : [])],
      attributes: describeAttributes(attributes),
    },
  }
}

const CONTENT = ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'createLocalization'] as const

/** A relation to a type that the caller may not `find` is omitted from answers. */
const canFind = (attribute: Attribute, grants: Grants): boolean =>
  attribute.kind !== 'relation' || grants.readAccess(attribute.target, 'find') !== null

interface FormAttribute {
  readonly attribute: Attribute
  readonly readable: boolean
  readonly writable: boolean
}

/** The attributes of one holder, without those that the caller may neither read nor write and those that no form has. */
function describeAttributes(all: readonly FormAttribute[]): readonly Schema[] {
  const shown = all.filter(({ readable, writable }) => readable || writable)
  const names = new Set(shown.map(({ attribute }) => attribute.name))
  return shown.flatMap(({ attribute, readable, writable }): readonly Schema[] => {
    const { name, kind, required, localized } = attribute
    if (kind === 'localizations' || kind === 'morph') return []
    const isSeen = readable && !(kind === 'scalar' && attribute.type === 'password')
    return [{ name, readable: isSeen, writable, required, localized, ...detailsOf(attribute, names) }]
  })
}

/** `names`: of the attributes of the same holder that the caller may read or write. */
function detailsOf(attribute: Attribute, names: ReadonlySet<string>): Schema {
  switch (attribute.kind) {
    case 'scalar': {
      const { type, values, min, max, minLength, maxLength, unique } = attribute
      const targetField = shownTarget(attribute, names)
      return { type, enum: values, targetField, min, max, minLength, maxLength, unique }
    }
    case 'relation':
      return { type: 'relation', relation: attribute.relation, target: attribute.target.key }
    case 'media':
      return { type: 'media', multiple: attribute.many, allowedTypes: attribute.allowedTypes }
    case 'component': {
      const { component, repeatable, min, max } = attribute
      return { type: 'component', component: component.uid, repeatable, min, max }
    }
    case 'zone':
      return { type: 'dynamiczone', components: attribute.components.map(({ uid }) => uid) }
    default:
      return {}
  }
}

/** The components that these attributes have, at any depth, below those attributes of components that `includes` accepts. */
function componentsOf(
  attributes: readonly Attribute[],
  includes: (component: Component, attribute: Attribute) => boolean,
): ReadonlySet<Component> {
  const found = new Set<Component>()
  const waiting = [...attributes]
  for (let attribute = waiting.pop(); attribute !== undefined; attribute = waiting.pop()) {
    const inner =
      attribute.kind === 'component'
        ? [attribute.component]
        : attribute.kind === 'zone'
          ? attribute.components
          : []
    for (const component of inner.filter(each => !found.has(each))) {
      found.add(component)
      waiting.push(...[...component.attributes.values()].filter(each => includes(component, each)))
    }
  }
  return found
}

interface DescribedView {
  readonly view: ConsoleView
  readonly summary: string
  readonly parameters: readonly Schema[]
}

const parameter = (name: string, description: string, required = false): Schema => ({
  ...{ name, in: 'query', description, schema: TEXT },
  ...(required && { required }),
})

const VIEWS: Readonly<Record<string, DescribedView>> = {
  model: { view: 'model', summary: 'Content-types and components, with their lines', parameters: [] },
  permissions: {
    view: 'permissions',
    summary: 'Roles and API tokens; with `role` all decisions on one',
    parameters: [parameter('role', 'A role or an API token.')],
  },
  explain: {
    view: 'permissions',
    summary: 'Whether a role or user may send a request, and why',
    parameters: [
      parameter('role', 'A role or an API token; without `user` it is required.'),
      parameter('user', 'The name or mail address of a user.'),
      parameter('method', 'The method of the request.', true),
      parameter('path', 'The path of the request, with its query string.', true),
      parameter('body', 'The body of the request, as JSON.'),
    ],
  },
  operations: {
    view: 'operations',
    summary: 'Plugins, the pending migration, slow reads with advice, failed events',
    parameters: [],
  },
}

/** The data of the console's views, for callers who may see them. */
export function consolePaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const views = consoleViewsOf(options.caller, options.project)
  const shown = Object.entries(VIEWS).filter(([, { view }]) => views.has(view))
  return Object.fromEntries(
    shown.map(([name, { summary, parameters }]) => [
      `/console/${name}`,
      {
        get: {
          ...{ operationId: `console.${name}`, summary, tags: ['Console'] },
          ...(parameters.length > 0 && { parameters }),
          responses: { 200: jsonResponse(summary, ANSWER), ...errorResponses('get', options) },
        },
      },
    ]),
  )
}

const ANSWER = closed({ data: { type: 'object' }, meta: { type: 'object' } }, ['data', 'meta'])
