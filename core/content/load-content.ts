import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { didYouMean } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ContentType, Model } from '../model/model.ts'
import { type Environment, readEnvironment } from '../project/environment.ts'
import type { Project } from '../project/project.ts'
import { looksSecret } from '../project/secret-ranges.ts'
import { readYaml } from '../project/yaml/read-yaml.ts'
import { checkDuplicates, checkTargets } from './check-documents.ts'
import type { Content } from './content.ts'
import { detectMedia, type MediaTypes } from './media-file.ts'
import { mergeLinks } from './merge-links.ts'
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
      entries.push(...documents)
      faults.push(...wrong)
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
    ({ place: a }, { place: b }) =>
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

const fileName = ({ kind, key, pluralApiId }: ContentType): string =>
  `${kind === 'single' ? key : pluralApiId}.yaml`

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
  place: { file, line: 1, column: 1, source: '' },
})
