import { didYouMean } from '../../base/nearest.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import { sortDiagnostics } from '../../project/faults.ts'
import type { Project } from '../../project/project.ts'
import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import { fitsIndex } from '../columns.ts'
import { attributeNamed, type Declarations, type DeclaredHolder, type DeclaredType } from '../declarations.ts'
import { CONFIGURATIONS } from '../search.ts'
import {
  alwaysLocalized,
  componentCycles,
  enumerations,
  knownComponents,
  regexes,
  uidSources,
} from './attribute-options.ts'
import type { ModelFinding, ModelRule } from './finding.ts'
import { apiIds, columnCounts, columnNames, tableNames, uniqueGraphqlNames } from './name-clashes.ts'
import { knownTargets, relationSides } from './relations.ts'
import { nameLengths, reservedNames } from './reserved-names.ts'

/** In this order. Diagnostics are sorted by their place in the file afterwards. */
const RULES: readonly ModelRule[] = [
  reservedNames,
  nameLengths,
  knownTargets,
  knownComponents,
  componentCycles,
  relationSides,
  alwaysLocalized,
  uidSources,
  enumerations,
  regexes,
  indexes,
  searches,
  renames,
  apiIds,
  uniqueGraphqlNames,
  tableNames,
  columnNames,
  columnCounts,
]

/** All diagnostics in the order of the project file. Names may clash in GraphQL if the project does not serve it. */
export function checkDeclarations(declarations: Declarations, project: Project): readonly Diagnostic[] {
  const rules = RULES.filter(rule => rule !== uniqueGraphqlNames || project.settings.graphql.enabled)
  return sortDiagnostics(
    rules.flatMap(rule => [...rule(declarations)]).map(finding => toDiagnostic(finding, project)),
  )
}

function toDiagnostic({ code, message, path, atKey, related }: ModelFinding, project: Project): Diagnostic {
  const location = atKey ? project.keyLocation(path) : project.location(path)
  const diagnostic = { code, message, location, path }
  if (!related) return diagnostic
  return { ...diagnostic, related: { location: project.keyLocation(related.path), message: related.message } }
}

/** System attributes that an index may name. */
const SYSTEM = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt']

/** A declared index may only name attributes that are columns of the type's table and fit into an index. */
function* indexes({ types }: Declarations): Generator<ModelFinding> {
  for (const type of types) {
    for (const [number, each] of type.indexes.entries()) {
      const path = [...type.path, 'indexes', number]
      if ('attributes' in each)
        yield* faultsIn(each.attributes, [...path, 'attributes'], name => textIndexFaultOf(type, name))
      else yield* faultsIn(each, path, name => indexFaultOf(type, name))
    }
  }
}

/** Yields the message that `find` returns for each name, with the path to the name. */
function* faultsIn(
  names: readonly string[],
  path: Path,
  find: (name: string) => string | undefined,
): Generator<ModelFinding> {
  for (const [position, name] of names.entries()) {
    const message = find(name)
    if (message !== undefined) yield { code: 'index', message, path: [...path, position] }
  }
}

function indexFaultOf(type: DeclaredType, name: string): string | undefined {
  if (SYSTEM.includes(name) || (name === 'locale' && type.localized)) return undefined
  const declaration = attributeNamed(type, name)
  const at = `\`${type.key}.${name}\``
  if (declaration === undefined) {
    return `unknown attribute \`${name}\`${didYouMean(name, [...Object.keys(type.attributes), ...SYSTEM])}`
  }
  switch (declaration.type) {
    case 'component':
    case 'dynamiczone':
      return `${at} is stored in other tables: it cannot be part of an index`
    case 'media':
      return declaration.multiple ? `${at} is a list: it cannot be part of an index` : undefined
    case 'relation':
      return isColumn(declaration)
        ? undefined
        : `${at} is not a column of \`${type.key}\`: it cannot be part of an index`
    default:
      return !fitsIndex(declaration)
        ? `${at} is of type ${declaration.type}, which is too large for an index`
        : undefined
  }
}

/** Types that `_q` searches. */
const WITH_TEXT: readonly string[] = [
  ...['string', 'text', 'richtext', 'email', 'uid', 'enumeration'],
  ...['integer', 'biginteger', 'decimal', 'float'],
]

/** An index of `kind: text` takes the attributes that `_q` searches: texts, and numbers and the documentId as texts. */
function textIndexFaultOf(type: DeclaredType, name: string): string | undefined {
  if (name === 'documentId') return undefined
  const declaration = attributeNamed(type, name)
  if (declaration === undefined)
    return `unknown attribute \`${name}\`${didYouMean(name, [...Object.keys(type.attributes), 'documentId'])}`
  return WITH_TEXT.includes(declaration.type)
    ? undefined
    : `\`${type.key}.${name}\` is of type ${declaration.type}: an index of kind text takes \`documentId\` and attributes of type ${WITH_TEXT.join(', ')}`
}

/** True if a relation is stored in a column of the type's own table. */
const isColumn = ({
  relation,
  mappedBy,
}: {
  readonly relation: string
  readonly mappedBy?: string
}): boolean => (relation === 'oneToOne' || relation === 'manyToOne') && mappedBy === undefined

/** A declaration that may have a former name. */
interface Named {
  readonly name: string
  readonly renamedFrom?: string | undefined
  readonly path: Path
}

/** A former name must not be in use any more, and only one declaration may claim it. */
function* renames(declarations: Declarations): Generator<ModelFinding> {
  const { types, components, holders, settings } = declarations
  yield* checkRenames(types.map(type => ({ name: type.key, renamedFrom: type.renamedFrom, path: type.path })))
  yield* checkRenames(components.map(({ uid, renamedFrom, path }) => ({ name: uid, renamedFrom, path })))
  for (const holder of holders) {
    const path = [...holder.path, 'attributes']
    yield* checkRenames(
      Object.entries(holder.attributes).map(([name, { renamedFrom }]) => ({
        name,
        renamedFrom,
        path: [...path, name],
      })),
    )
  }
  yield* checkRenames(
    settings.i18n.locales.map(({ code, renamedFrom }, index) => ({
      name: code,
      renamedFrom,
      path: ['i18n', 'locales', index],
    })),
  )
}

/** Checks declarations that share a namespace. */
function* checkRenames(all: readonly Named[]): Generator<ModelFinding> {
  const names = new Set(all.map(({ name }) => name))
  const taken = new Map<string, string>()
  for (const { name, renamedFrom, path } of all) {
    if (renamedFrom === undefined) continue
    const at = { code: 'renamed-from', path: [...path, 'renamedFrom'] } as const
    const other = taken.get(renamedFrom)
    if (names.has(renamedFrom)) {
      yield { ...at, message: `\`${name}\` cannot be renamed from \`${renamedFrom}\`, which still exists` }
    } else if (other !== undefined) {
      yield { ...at, message: `\`${other}\` and \`${name}\` are both renamed from \`${renamedFrom}\`` }
    }
    taken.set(renamedFrom, name)
  }
}

const SEARCHABLE: readonly string[] = ['string', 'text', 'richtext', 'blocks', 'email', 'uid']

/** `search:` names text attributes of the type and of its components, its locales, and configurations of PostgreSQL. */
function* searches(declarations: Declarations): Generator<ModelFinding> {
  for (const type of declarations.types) {
    if (type.search === null) continue
    for (const path of Object.keys(type.search.attributes)) {
      const message = searchFault(type, path, declarations)
      const place = [...type.path, 'search', 'attributes', path]
      if (message !== undefined) yield { code: 'search', message, path: place, atKey: true }
    }
    yield* languageFaults(type, declarations)
  }
}

function searchFault(type: DeclaredType, path: string, declarations: Declarations): string | undefined {
  const [name = '', inner, ...deeper] = path.split('.')
  const attribute = attributeNamed(type, name)
  if (!attribute) return unknownAttribute(type, name)
  const components = componentsOf(attribute, declarations)
  if (inner === undefined)
    return components === null
      ? textFaultOf(path, attribute)
      : `\`${path}\` is a component: name one of its attributes, such as \`${path}.text\``
  if (components === null) return `\`${name}\` is not a component: \`${path}\` does not exist`
  if (deeper.length > 0) return `\`${path}\`: components are searched one level deep`
  const found = components.flatMap(component => attributeNamed(component, inner) ?? [])
  const [first] = components
  if (found.length === 0 && first) return unknownAttribute(first, inner)
  return found.map(each => textFaultOf(path, each)).find(message => message !== undefined)
}

const unknownAttribute = (holder: DeclaredHolder, name: string): string =>
  `unknown attribute \`${name}\`${didYouMean(name, Object.keys(holder.attributes))}`

const textFaultOf = (path: string, { type }: AttributeDeclaration): string | undefined =>
  SEARCHABLE.includes(type)
    ? undefined
    : `\`${path}\` is of type ${type}: a search takes attributes of type ${SEARCHABLE.join(', ')}`

/** null: not an attribute with components. */
function componentsOf(
  attribute: AttributeDeclaration,
  { componentsByUid }: Declarations,
): readonly DeclaredHolder[] | null {
  if (attribute.type !== 'component' && attribute.type !== 'dynamiczone') return null
  const uids = attribute.type === 'component' ? [attribute.component] : attribute.components
  return uids.flatMap(uid => componentsByUid.get(uid) ?? [])
}

function* languageFaults(type: DeclaredType, { settings }: Declarations): Generator<ModelFinding> {
  const codes = settings.i18n.locales.map(({ code }) => code)
  for (const [locale, configuration] of Object.entries(type.search?.languages ?? {})) {
    const path = [...type.path, 'search', 'languages', locale]
    if (!codes.includes(locale))
      yield {
        code: 'search',
        message: `unknown locale \`${locale}\`${didYouMean(locale, codes)}`,
        path,
        atKey: true,
      }
    if (!CONFIGURATIONS.includes(configuration)) {
      const message = `unknown text search configuration \`${configuration}\`${didYouMean(configuration, CONFIGURATIONS)}`
      yield { code: 'search', message, path }
    }
  }
}
