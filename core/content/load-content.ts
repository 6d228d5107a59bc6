import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { didYouMean } from '../base/nearest.ts'
import { addAll } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { LinkTarget } from '../documents/desired-state.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { apiIdOf, type ContentType, type Model, type RelationAttribute } from '../model/model.ts'
import { type Environment, readEnvironment } from '../project/environment.ts'
import type { Project } from '../project/project.ts'
import { looksSecret } from '../project/secret-ranges.ts'
import { readYaml } from '../project/yaml/read-yaml.ts'
import { checkDuplicates, checkTargets } from './check-documents.ts'
import { type Content, type ContentDocument, type ContentVersion, diagnose } from './content.ts'
import { detectMedia, type MediaTypes } from './media-file.ts'
import { holdsPassword, parseEntry } from './parse-entry.ts'
import { type MediaCache, readLinks } from './parse-links.ts'
import { type RawEntry, readEntries } from './read-entries.ts'

/** Reads and checks content/. Fails with all faults and their places. Needs no database. */
export async function loadContent(
  project: Project,
  model: Model,
  env: Environment = process.env,
): Promise<Result<Content, Diagnostic>> {
  const environment = await readEnvironment(project.root, env)
  if (!environment.ok) return environment
  const found = await findContentFiles(project.root, model)
  const faults = [...found.faults]
  const entries: RawEntry[] = []
  for (const file of found.files) {
    const read = await readContentFile(project, file, environment.value)
    if (!read.ok) faults.push(...read.reasons)
    else {
      const { entries: documents, faults: wrong } = readEntries(file.type, read.value)
      addAll(entries, documents)
      addAll(faults, wrong)
    }
  }
  const types = entries.length > 0 ? await detectMedia(project.root) : new Map<string, string | null>()
  return checkAll({ project, model, entries, faults, types })
}

const readContentFile = (project: Project, { file, type }: ContentFile, environment: Environment) =>
  readYaml(file, {
    root: project.root,
    environment,
    isSecret: path => path.some(key => looksSecret(key) || holdsPassword(type, String(key))),
  })

interface LoadedEntries {
  readonly project: Project
  readonly model: Model
  readonly entries: readonly RawEntry[]
  readonly types: MediaTypes
  /** Faults found so far. */
  readonly faults: readonly Diagnostic[]
}

function checkAll({ project, model, entries, faults, types }: LoadedEntries): Result<Content, Diagnostic> {
  const cache: MediaCache = new Map()
  const folder = { root: project.root, types }
  const locales = model.locales.map(({ code }) => code)
  const parsed = entries.map(entry =>
    parseEntry(entry, { model, links: readLinks({ folder, cache, locales }) }),
  )
  const documents = parsed.map(({ document }) => document)
  const roles = Object.keys(project.settings.roles)
  const merged = mergeLinks(documents, model.defaultLocale)
  const all = [
    ...faults,
    ...parsed.flatMap(entry => entry.faults),
    ...checkTargets(documents, { model, roles }),
    ...checkDuplicates(documents),
    ...merged.faults,
  ]
  return all.length > 0 ? failed(...sortByPlace(all)) : ok({ documents: merged.documents })
}

/** Sorts by file, line and column. */
const sortByPlace = (faults: readonly Diagnostic[]): readonly Diagnostic[] =>
  faults.toSorted(
    ({ location: a }, { location: b }) =>
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  )

interface ContentFile {
  readonly type: ContentType
  /** Absolute. */
  readonly file: string
}

interface FoundFiles {
  /** Ordered by type as in the model. */
  readonly files: readonly ContentFile[]
  readonly faults: readonly Diagnostic[]
}

/** Finds the files of content/, named by the plural of a type, the singular of a single type, or `users.yaml`. */
async function findContentFiles(root: string, model: Model): Promise<FoundFiles> {
  const listed = await listEntries(join(root, 'content'))
  if (!listed)
    return {
      files: [],
      faults: [misplaced('content', '`content` is a file: documents lie in a folder of this name')],
    }
  const entries = listed
    .filter(({ name }) => /\.ya?ml$/i.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const types = new Map(
    [...model.contentTypes.values()]
      .filter(type => !type.builtIn || type === model.builtIn.user)
      .map(type => [fileName(type), type]),
  )
  const names = new Set(entries.filter(entry => !entry.isDirectory()).map(({ name }) => name))
  const files = [...types]
    .filter(([name]) => names.has(name))
    .map(([name, type]) => ({ type, file: join(root, 'content', name) }))
  const faults = entries.flatMap(entry => {
    if (entry.isDirectory())
      return [
        misplaced(`content/${entry.name}`, 'a folder cannot hold documents: only a file of this name can'),
      ]
    return types.has(entry.name) ? [] : [unknownFile(entry.name, [...types.keys()])]
  })
  return { files, faults }
}

const fileName = (type: ContentType): string => `${apiIdOf(type)}.yaml`

/** Empty if the folder does not exist; undefined if it is not a folder. */
async function listEntries(folder: string): Promise<readonly Dirent[] | undefined> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') return undefined
    throw error
  }
}

function unknownFile(name: string, known: readonly string[]): Diagnostic {
  const near = didYouMean(name, known) || ': files are named after the plural of a content-type'
  return misplaced(`content/${name}`, `no content-type has the file \`${name}\`${near}`)
}

const misplaced = (file: string, message: string): Diagnostic => ({
  code: 'unknown-type',
  message,
  path: [],
  location: { file, line: 1, column: 1, source: '' },
})

/**
 * A link of a two-way relation, declared on either side: from `owner` to `target`, each with a locale if its type is
 * localized.
 */
interface Edge {
  readonly attribute: RelationAttribute
  readonly owner: string
  readonly ownerLocale: string | null
  readonly target: string
  readonly targetLocale: string | null
  readonly from: LinkSource
}

interface LinkSource {
  readonly document: ContentDocument
  readonly version: ContentVersion
  readonly attribute: RelationAttribute
}

interface MergedLinks {
  readonly documents: readonly ContentDocument[]
  readonly faults: readonly Diagnostic[]
}

/**
 * Merges links of two-way relations, which may be declared on one side or on both: each side gets the links of the other
 * after its own. Contradicting sides are a fault.
 */
function mergeLinks(documents: readonly ContentDocument[], defaultLocale: string): MergedLinks {
  const edges = documents.flatMap(document => documentEdges(document, defaultLocale))
  const index = indexEdges(edges)
  const merged = documents.map(document => ({
    ...document,
    versions: document.versions.map(version => mergeVersion(document, version, index)),
  }))
  return { documents: merged, faults: conflicts(edges) }
}

function documentEdges(document: ContentDocument, defaultLocale: string): readonly Edge[] {
  return document.versions.flatMap(version =>
    [...version.values].flatMap(([name, value]) => {
      const attribute = document.type.attributes.get(name)
      if (value.kind !== 'links' || attribute?.kind !== 'relation' || attribute.counterpart === null)
        return []
      return value.targets.map(target => toEdge({ document, version, attribute }, target, defaultLocale))
    }),
  )
}

function toEdge(from: LinkSource, { documentId, locale }: LinkTarget, defaultLocale: string): Edge {
  const { document, version, attribute } = from
  const here = version.locale
  const there = attribute.target.localized ? (here ?? locale ?? defaultLocale) : null
  const own = { id: document.name, locale: here }
  const other = { id: documentId, locale: there }
  const [owner, target] = attribute.side === 'owner' ? [own, other] : [other, own]
  const stored = attribute.side === 'owner' ? attribute : (attribute.counterpart ?? attribute)
  return {
    attribute: stored,
    owner: owner.id,
    ownerLocale: owner.locale,
    target: target.id,
    targetLocale: target.locale,
    from,
  }
}

/** Edges by attribute and one end. */
type EdgeIndex = ReadonlyMap<RelationAttribute, ReadonlyMap<string, readonly Edge[]>>

const endKey = (id: string, locale: string | null): string => JSON.stringify([id, locale])

function indexEdges(edges: readonly Edge[]): EdgeIndex {
  const index = new Map<RelationAttribute, Map<string, Edge[]>>()
  const add = (attribute: RelationAttribute | null, key: string, edge: Edge) => {
    if (attribute === null) return
    const ends = index.get(attribute) ?? new Map<string, Edge[]>()
    index.set(attribute, ends)
    const there = ends.get(key)
    if (there) there.push(edge)
    else ends.set(key, [edge])
  }
  for (const edge of edges) {
    if (edge.from.attribute.side === 'inverse')
      add(edge.attribute, endKey(edge.owner, edge.ownerLocale), edge)
    else add(edge.attribute.counterpart, endKey(edge.target, edge.targetLocale), edge)
  }
  return index
}

function mergeVersion(document: ContentDocument, version: ContentVersion, index: EdgeIndex): ContentVersion {
  const values = new Map(version.values)
  for (const [name, value] of version.values) {
    const attribute = document.type.attributes.get(name)
    if (value.kind !== 'links' || attribute?.kind !== 'relation' || !attribute.many) continue
    const others = index.get(attribute)?.get(endKey(document.name, version.locale)) ?? []
    const known = new Set(value.targets.map(({ documentId, locale }) => endKey(documentId, locale)))
    const added = others
      .map(edge => otherEnd(edge, attribute))
      .filter(({ documentId, locale }) => !known.has(endKey(documentId, locale)))
    if (added.length > 0) values.set(name, { kind: 'links', targets: [...value.targets, ...added] })
  }
  return { ...version, values }
}

/** The link target as seen from this side. It has a locale only if this side is not localized. */
function otherEnd(edge: Edge, attribute: RelationAttribute): LinkTarget {
  const isOwner = attribute.side === 'owner'
  const [id, locale, own] = isOwner
    ? [edge.target, edge.targetLocale, edge.ownerLocale]
    : [edge.owner, edge.ownerLocale, edge.targetLocale]
  return { documentId: id, locale: own === null ? locale : null, status: null }
}

/** Reports two targets for an owner that allows one, and two owners for the target of a one-to-one relation. */
function conflicts(edges: readonly Edge[]): readonly Diagnostic[] {
  const taken = new Map<string, Edge>()
  return edges.flatMap(edge => {
    const { attribute } = edge
    const own = `${endKey(edge.owner, edge.ownerLocale)} of ${attribute.name} ${attribute.counterpart?.target.uid}`
    const exclusive =
      attribute.relation === 'oneToOne'
        ? [
            `to ${endKey(edge.target, edge.targetLocale)} in ${edge.ownerLocale} by ${attribute.name} ${attribute.target.uid}`,
          ]
        : []
    const keys = [...(attribute.many ? [] : [own]), ...exclusive]
    const other = keys.flatMap(key => taken.get(key) ?? []).find(each => !isSame(each, edge))
    for (const key of keys) if (!taken.has(key)) taken.set(key, edge)
    return other === undefined ? [] : [conflict(edge, other)]
  })
}

const isSame = (a: Edge, b: Edge): boolean =>
  a.owner === b.owner &&
  a.target === b.target &&
  a.ownerLocale === b.ownerLocale &&
  a.targetLocale === b.targetLocale

function conflict(edge: Edge, other: Edge): Diagnostic {
  const spot = ({ document, version, attribute }: LinkSource) => ({
    ...document,
    path: [...version.path, attribute.name],
  })
  const at = spot(other.from)
  const message = `\`${edge.owner}\` and \`${edge.target}\` cannot be linked by \`${edge.attribute.name}\`: one of them is linked already`
  return diagnose('link-conflict', message, spot(edge.from), {
    location: at.source.location(at.path),
    message: 'links it',
  })
}
