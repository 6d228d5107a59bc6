import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import { type Environment, readEnvironment } from '../project/environment.ts'
import type { Project } from '../project/project.ts'
import { namesSecret } from '../project/secret-ranges.ts'
import { readYaml } from '../project/yaml/read-yaml.ts'
import { checkReferences, type References } from './check-references.ts'
import { checkUnique } from './check-unique.ts'
import type { Content, ContentDocument } from './content.ts'
import { isPassword } from './content-digest.ts'
import { detectMedia, type MediaTypes } from './detect-media.ts'
import { mergeLinks } from './edges.ts'
import { type ContentFile, findFiles } from './find-files.ts'
import { parseEntry } from './parse-entry.ts'
import { type MediaCache, readLinks } from './parse-links.ts'
import { type RawEntry, readEntries } from './read-entries.ts'

/** Reads content/ and checks it whole: every document, or every fault with its place. Needs no database. */
export async function loadContent(
  project: Project,
  model: Model,
  env: Environment = process.env,
): Promise<Result<Content, Diagnostic>> {
  const environment = await readEnvironment(project.root, env)
  if (!environment.ok) return environment
  const found = await findFiles(project.root, model)
  const faults = [...found.faults]
  const entries: RawEntry[] = []
  for (const file of found.files) {
    const read = await readFileOf(project, file, environment.value)
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

const readFileOf = (project: Project, { file, type }: ContentFile, environment: Environment) =>
  readYaml(file, {
    root: project.root,
    environment,
    isSecret: path => path.some(key => namesSecret(key) || isPassword(type, String(key))),
  })

interface Loaded {
  readonly project: Project
  readonly model: Model
  readonly entries: readonly RawEntry[]
  readonly types: MediaTypes
  /** Found until now. */
  readonly faults: readonly Diagnostic[]
}

function checkAll({ project, model, entries, faults, types }: Loaded): Result<Content, Diagnostic> {
  const cache: MediaCache = new Map()
  const all = [...faults]
  const documents: ContentDocument[] = []
  const references: References[] = []
  for (const entry of entries) {
    const links = readLinks({ root: project.root, types }, cache)
    const parsed = parseEntry(entry, { model, links })
    all.push(...parsed.faults)
    documents.push(parsed.document)
    references.push({ document: parsed.document, references: links.references })
  }
  const roles = Object.keys(project.settings.roles)
  const merged = mergeLinks(documents, model.defaultLocale)
  all.push(
    ...checkReferences(references, { documents, model, roles }),
    ...checkUnique(documents),
    ...merged.faults,
  )
  if (all.length > 0) return failed(...inOrder(all))
  return ok({ documents: merged.documents })
}

/** By file, line and column. */
const inOrder = (faults: readonly Diagnostic[]): readonly Diagnostic[] =>
  faults.toSorted(
    ({ place: a }, { place: b }) =>
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  )
