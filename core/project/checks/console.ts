import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { ConsoleLayout, ContentTypeDeclaration, Settings } from '../settings/settings.ts'

/** Paths of the server that no key sets. */
const FIXED_PATHS: readonly (readonly [path: string, source: string])[] = [
  ['/_health', 'the health of the server'],
  ['/_ready', 'the health of the server'],
  ['/_mail', 'the mails of development'],
  ['/uploads', 'the uploaded files'],
]

/** The console answers every path below its own, so no other part of the server may be there, and it not below another. */
export function* consolePath(
  { console, rest, graphql, server: { metrics } }: Settings,
  isWritten: IsWritten,
): Generator<ProjectFinding> {
  if (console.enabled === 'never') return
  const endpoints = graphql.enabled ? Object.keys(graphql.endpoints) : []
  const inEndpoints = isWritten('graphql', 'endpoints')
  const others: readonly OtherPath[] = [
    { at: rest.prefix, source: '`rest.prefix`', path: ['rest', 'prefix'] },
    ...endpoints.map(at => ({
      at,
      source: 'the GraphQL endpoint',
      path: inEndpoints ? ['graphql', 'endpoints', at] : ['graphql', 'config', 'endpoint'],
    })),
    ...(metrics.enabled && metrics.port === null
      ? [{ at: metrics.path, source: 'the metrics', path: ['server', 'metrics', 'path'] }]
      : []),
    ...FIXED_PATHS.map(([at, source]) => ({ at, source, path: ['console', 'path'] })),
  ]
  const other = others.find(({ at }) => isWithin(at, console.path) || isWithin(console.path, at))
  if (other === undefined) return
  const { at, source } = other
  const isChosen = isWritten('console', 'path')
  yield isChosen
    ? {
        code: 'conflict',
        message: `the console at \`${console.path}\` and ${source} at \`${at}\` would hide each other: choose another path`,
        path: ['console', 'path'],
      }
    : {
        code: 'conflict',
        message: `${source} at \`${at}\` and the console at \`${console.path}\` would hide each other: set \`console: { path: … }\`, or \`enabled: never\``,
        path: other.path,
      }
}

interface OtherPath {
  readonly at: string
  readonly source: string
  readonly path: readonly string[]
}

/** The same path, or one below it. Express compares paths without regard to case. */
const isWithin = (path: string, folder: string): boolean =>
  `${path}/`.toLowerCase().startsWith(`${folder}/`.toLowerCase())

/** The names in the layout of a content-type exist, and its keys do not contradict each other. */
export function* consoleLayouts({ contentTypes, roles }: Settings): Generator<ProjectFinding> {
  for (const [key, type] of Object.entries(contentTypes)) {
    const path = ['contentTypes', key, 'console']
    yield* labels(type, path)
    yield* columns(type, path)
    yield* unknownAttributes(type, namedIn(type.console, path))
    yield* grouping(type.console, path)
    yield* hiddenRequired(type, path, setByRoles(roles, key))
    yield* placeholders(type, path)
  }
}

/** Attributes of these types name a document: their value is a short text. */
const TEXTUAL: readonly string[] = ['string', 'text', 'uid', 'email', 'enumeration']

function* labels({ attributes, console }: ContentTypeDeclaration, path: Path): Generator<ProjectFinding> {
  const { label } = console
  if (label === undefined) return
  const at = [...path, 'label']
  const type = Object.hasOwn(attributes, label) ? attributes[label]?.type : undefined
  if (type === undefined) yield unknownAttribute(label, Object.keys(attributes), { path: at })
  else if (!TEXTUAL.includes(type)) {
    const message = `\`${label}\` is of type ${type}: the label of a document is an attribute of type ${TEXTUAL.join(', ')}`
    yield { code: 'bad-value', message, path: at }
  }
}

/** Columns that are no declared attributes. */
export const SYSTEM_COLUMNS: readonly string[] = ['documentId', 'createdAt', 'updatedAt', 'publishedAt']

function* columns(
  { attributes, console, kind }: ContentTypeDeclaration,
  path: Path,
): Generator<ProjectFinding> {
  const known = [...Object.keys(attributes), ...SYSTEM_COLUMNS]
  if (kind === 'single' && console.columns.length > 0) {
    const message = 'a single type has one document and no list: remove `columns`'
    yield { code: 'conflict', message, path: [...path, 'columns'], atKey: true }
  }
  for (const [index, name] of console.columns.entries())
    if (!known.includes(name)) yield unknownAttribute(name, known, { path: [...path, 'columns', index] })
}

interface NamedAttribute {
  readonly name: string
  readonly path: Path
  readonly atKey?: boolean
}

const namedIn = ({ groups = [], help, hidden }: ConsoleLayout, path: Path): readonly NamedAttribute[] => [
  ...groups.flatMap(({ attributes }, group) =>
    attributes.map((name, at) => ({ name, path: [...path, 'groups', group, 'attributes', at] })),
  ),
  ...Object.keys(help).map(name => ({ name, path: [...path, 'help', name], atKey: true })),
  ...hidden.map((name, at) => ({ name, path: [...path, 'hidden', at] })),
]

function* unknownAttributes(
  { attributes }: ContentTypeDeclaration,
  named: readonly NamedAttribute[],
): Generator<ProjectFinding> {
  const known = Object.keys(attributes)
  for (const { name, ...place } of named)
    if (!known.includes(name)) yield unknownAttribute(name, known, place)
}

const unknownAttribute = (
  name: string,
  known: readonly string[],
  place: Omit<NamedAttribute, 'name'>,
): ProjectFinding => ({
  code: 'unknown-name',
  message: `unknown attribute \`${name}\`${didYouMean(name, known)}`,
  missing: attributePath(place.path, name),
  ...place,
})

/** The declaration of an attribute that the layout at a path below `contentTypes.<type>` names. */
const attributePath = (path: Path, name: string): Path => [...path.slice(0, 2), 'attributes', name]

/** An attribute is in one place of the form. */
function* grouping(layout: ConsoleLayout, path: Path): Generator<ProjectFinding> {
  const places = new Map<string, Path>()
  for (const { name, path: at } of namedIn({ ...layout, help: {} }, path)) {
    const first = places.get(name)
    if (first === undefined) places.set(name, at)
    else
      yield {
        code: 'conflict',
        message: `\`${name}\` is in two places of the form: it belongs to one group, or is hidden`,
        path: at,
        related: { path: first, message: `\`${name}\` is also here` },
      }
  }
}

/** The attributes of a type that a permission sets when a document is created. */
function setByRoles(roles: Settings['roles'], type: string): ReadonlySet<string> {
  const terms = Object.values(roles).map(({ permissions }) => {
    const permission = permissions[type]
    return typeof permission === 'object' && 'create' in permission ? permission.create : undefined
  })
  return new Set(terms.flatMap(create => (typeof create === 'object' ? Object.keys(create.set ?? {}) : [])))
}

/** A form without an input for a value that must be there could be filled in and never be saved. */
function* hiddenRequired(
  { attributes, console }: ContentTypeDeclaration,
  path: Path,
  setByServer: ReadonlySet<string>,
): Generator<ProjectFinding> {
  for (const [index, name] of console.hidden.entries()) {
    const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (attribute === undefined || !('required' in attribute) || !attribute.required) continue
    const hasDefault = 'default' in attribute && attribute.default !== undefined && attribute.default !== null
    if (hasDefault || !attribute.writable || setByServer.has(name)) continue
    const message = `\`${name}\` is required and has no default, so that a form without it cannot be saved: show it, add a \`default\`, or declare \`writable: false\` if code sets it`
    yield { code: 'conflict', message, path: [...path, 'hidden', index] }
  }
}

export const DOCUMENT_PLACEHOLDERS: readonly string[] = ['documentId', 'locale', 'status']

/** Values that an address can contain. */
const PRINTABLE = [...TEXTUAL, 'integer', 'biginteger', 'date', 'boolean']

function* placeholders(
  { attributes, console }: ContentTypeDeclaration,
  path: Path,
): Generator<ProjectFinding> {
  const at = [...path, 'preview']
  for (const name of previewPlaceholders(console.preview ?? '')) {
    if (DOCUMENT_PLACEHOLDERS.includes(name)) continue
    const type = Object.hasOwn(attributes, name) ? attributes[name]?.type : undefined
    const known = [...DOCUMENT_PLACEHOLDERS, ...Object.keys(attributes)]
    if (type === undefined) {
      const message = `unknown placeholder \`{${name}}\`${didYouMean(name, known)}`
      yield { code: 'unknown-name', message, missing: attributePath(at, name), path: at }
    } else if (!PRINTABLE.includes(type)) {
      const message = `\`{${name}}\` is of type ${type}: an address takes attributes of type ${PRINTABLE.join(', ')}`
      yield { code: 'bad-value', message, path: at }
    }
  }
}

/** The names in braces. */
export const previewPlaceholders = (address: string): readonly string[] =>
  Array.from(address.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name)

/** Requests without credentials are everybody's, and views of the console show more than such a caller may know. */
export function* consoleViews({ roles }: Settings): Generator<ProjectFinding> {
  if (roles.public.console.length === 0) return
  yield {
    code: 'conflict',
    message: 'views of the console are for signed-in users: `public` has none',
    path: ['roles', 'public', 'console'],
    atKey: true,
  }
}
