import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A reference to a section of docs/reference/. The one form: `reference/rest.md#5-pagination`. */
export interface Citation {
  /** `core/rest/cursor.ts:14` */
  readonly place: string
  readonly text: string
  /** Why it leads nowhere; null: it resolves. */
  readonly fault: string | null
}

const ROOT = join(import.meta.dirname, '..')

const REFERENCE = join(ROOT, 'docs', 'reference')

const FOLDERS = ['core', 'tools', 'tests', 'bench', 'scripts', 'extensions', 'middlewares', 'policies']

const CITATION = /\breference\/([a-z0-9-]+\.md)(?:#([a-z0-9-]+))?/g

/** The form of version 0.1: documents that are not in this repository. */
const OUTDATED =
  /\b(?:contract\/)?(?:rest|graphql5?|documents|safety|style|architecture|plugins|house)\.md (?:section )?\d+|\bspec(?:ification)? \d+\.\d+|\bsafety S\d+|\bcontract\/[a-z]/gi

export const findCitations = (): readonly Citation[] => FOLDERS.flatMap(filesOf).flatMap(citationsOf)

const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      path =>
        /\.(?:[cm]?[jt]s|md)$/.test(path) &&
        !path.includes('node_modules') &&
        !path.startsWith('conformance'),
    )
    .map(path => `${folder}/${path}`)
    .toSorted()

const citationsOf = (file: string): readonly Citation[] =>
  file === 'scripts/citations.ts'
    ? []
    : readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => [
          ...[...line.matchAll(CITATION)].map(([text, name = '', anchor]) => ({
            place: `${file}:${index + 1}`,
            text,
            fault: faultOf(name, anchor),
          })),
          ...[...line.matchAll(OUTDATED)].map(([text]) => ({
            place: `${file}:${index + 1}`,
            text,
            fault: 'cites a document outside of this repository; write `reference/<file>.md#<section>`',
          })),
        ])

function faultOf(name: string, anchor: string | undefined): string | null {
  const file = join(REFERENCE, name)
  if (!existsSync(file)) return `docs/reference/${name} does not exist`
  if (anchor === undefined || anchorsOf(file).has(anchor)) return null
  return `docs/reference/${name} has no section #${anchor}`
}

const anchors = new Map<string, ReadonlySet<string>>()

/** Anchors as GitHub makes them from headings. */
function anchorsOf(file: string): ReadonlySet<string> {
  const known = anchors.get(file)
  if (known) return known
  const headings = readFileSync(file, 'utf8').match(/^#+ .+$/gm) ?? []
  const made = new Set(headings.map(heading => toAnchor(heading.replace(/^#+ /, ''))))
  anchors.set(file, made)
  return made
}

const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
