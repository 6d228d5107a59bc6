import { existsSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, posix, resolve } from 'node:path'
import { readFolder } from '../base/read-folder.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Environment } from './environment.ts'
import type { ProjectFault } from './faults.ts'
import { isProjectSecret } from './secret-ranges.ts'
import { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
import { locationAt, readSource, shownPath } from './yaml/source-file.ts'
import type { YamlNode, YamlScalar } from './yaml/yaml-tree.ts'

/** The trees of the project file and of all that it includes, in order, the project file first. */
export interface ProjectFiles {
  readonly trees: readonly YamlNode[]
  /** Absolute paths of all files that were read or could not be read. */
  readonly seen: ReadonlySet<string>
  readonly faults: readonly Diagnostic[]
  /** False if a file could not be parsed, so that parts of the project are missing. */
  readonly complete: boolean
}

interface IncludeWalk {
  readonly root: string
  readonly environment: Environment
  readonly seen: Set<string>
  readonly faults: Diagnostic[]
  readonly trees: YamlNode[]
  complete: boolean
}

/** Reads the project file and, depth first, its includes. A file that two others include is read once. */
export async function readProjectFiles(file: string, environment: Environment): Promise<ProjectFiles> {
  const journey: IncludeWalk = {
    root: dirname(file),
    environment,
    seen: new Set(),
    faults: [],
    trees: [],
    complete: true,
  }
  await visitFile(journey, [file])
  return journey
}

/** `chain`: the files that include one another, ending with the file to read. */
async function visitFile(journey: IncludeWalk, chain: readonly string[]): Promise<void> {
  const file = chain.at(-1) ?? ''
  journey.seen.add(file)
  const { tree, faults } = await parseFile(journey, file)
  journey.faults.push(...faults)
  if (tree === undefined) journey.complete = false
  if (tree === undefined) return
  journey.trees.push(tree)
  for (const item of includesOf(journey, tree, chain.length > 1)) {
    for (const path of await pathsOf(journey, item, file)) await follow(journey, item, [...chain, path])
  }
}

async function parseFile(journey: IncludeWalk, file: string): Promise<ParsedYaml> {
  const source = await readSource(file, journey.root)
  if (!source.ok) return { faults: source.reasons }
  return parseYaml(source.value, { environment: journey.environment, isSecret: isProjectSecret })
}

/** The texts of `include`. Reports other values in included files; in the project file the schema reports them. */
function includesOf(journey: IncludeWalk, tree: YamlNode, isIncluded: boolean): readonly YamlScalar[] {
  const include = tree.kind === 'map' ? tree.entries.get('include')?.value : undefined
  const items = include?.kind === 'list' ? include.items : include ? [include] : []
  const texts = include?.kind === 'list' ? items.filter(isText) : []
  for (const item of items) {
    if (isIncluded && !texts.some(text => text === item))
      report(journey, item, 'bad-include', 'expected a list of paths')
  }
  return texts
}

const isText = (item: YamlNode): item is YamlScalar =>
  item.kind === 'scalar' && typeof item.value === 'string' && !item.broken

async function pathsOf(journey: IncludeWalk, item: YamlScalar, from: string): Promise<readonly string[]> {
  const written = String(item.value)
  if (isAbsolute(written) || written.includes('\0')) {
    report(journey, item, 'bad-include', 'an include is a path from the folder of its own file')
    return []
  }
  const found = isPattern(written)
    ? await matchesOf(written, from).catch((error: Error) => error)
    : existing(resolve(dirname(from), written))
  if (found instanceof Error) {
    report(journey, item, 'bad-include', `a folder of \`${written}\` cannot be read: ${found.message}`)
    return []
  }
  if (!isPattern(written) && found.some(path => statSync(path).isDirectory())) {
    const inside = posix.join(written, '*.yaml')
    report(journey, item, 'bad-include', `\`${written}\` is a folder: write \`${inside}\` for its files`)
    return []
  }
  if (found.length === 0)
    report(
      journey,
      item,
      'bad-include',
      `there is no file \`${written}\` in the folder of ${shownPath(from, journey.root)}`,
    )
  return found
}

/** A pattern never matches the file that contains it. */
async function matchesOf(pattern: string, from: string): Promise<readonly string[]> {
  const found = await filesMatching(dirname(from), pattern)
  return found.filter(path => path !== from)
}

const existing = (path: string): readonly string[] => (existsSync(path) ? [path] : [])

async function follow(journey: IncludeWalk, item: YamlScalar, chain: readonly string[]): Promise<void> {
  const file = chain.at(-1) ?? ''
  const since = chain.indexOf(file)
  if (since < chain.length - 1) {
    const circle = chain.slice(since).map(path => shownPath(path, journey.root))
    return report(journey, item, 'include-cycle', `the includes form a cycle: ${circle.join(' → ')}`)
  }
  if (journey.seen.has(file)) return
  await visitFile(journey, chain)
}

function report(journey: IncludeWalk, item: YamlNode, code: ProjectFault, message: string): void {
  journey.faults.push({ code, message, location: locationAt(item.mark), path: ['include'] })
}

/** True if a path contains wildcards: `*`, `?` or `**`. */
const isPattern = (path: string): boolean => /[*?]/.test(path)

/** The files that match a pattern, sorted by path. Hidden files match only a pattern part that begins with a dot. */
async function filesMatching(folder: string, pattern: string): Promise<readonly string[]> {
  const found = await walk(
    folder,
    pattern.split('/').filter(part => part !== '' && part !== '.'),
  )
  return Array.from(new Set(found)).sort()
}

async function walk(folder: string, parts: readonly string[]): Promise<readonly string[]> {
  const [part, ...rest] = parts
  if (part === undefined) return []
  if (part === '..') return walk(join(folder, part), rest)
  const entries = await readFolder(folder)
  if (part === '**')
    return walkAnywhere(
      folder,
      rest,
      entries.filter(entry => entry.isDirectory() && !isHidden(entry.name)),
    )
  const matches = entries.filter(entry => fits(entry.name, part))
  if (rest.length === 0)
    return matches.filter(entry => !entry.isDirectory()).map(entry => join(folder, entry.name))
  const deeper = await Promise.all(matches.map(entry => walk(join(folder, entry.name), rest)))
  return deeper.flat()
}

async function walkAnywhere(
  folder: string,
  rest: readonly string[],
  folders: readonly { name: string }[],
): Promise<readonly string[]> {
  const here = await walk(folder, rest)
  const below = await Promise.all(folders.map(entry => walk(join(folder, entry.name), ['**', ...rest])))
  return [...here, ...below.flat()]
}

const isHidden = (name: string): boolean => name.startsWith('.')

/** True if a name matches one part of a pattern. Takes at most the product of both lengths. */
function fits(name: string, part: string): boolean {
  if (isHidden(name) && !part.startsWith('.')) return false
  let at = 0
  let star = -1
  let retry = 0
  for (let index = 0; index < name.length; ) {
    if (part[at] === '*') {
      star = at++
      retry = index
    } else if (part[at] === '?' || part[at] === name[index]) {
      at++
      index++
    } else if (star >= 0) {
      // Backtrack: the last star matches one more character.
      at = star + 1
      index = ++retry
    } else return false
  }
  return /^\**$/.test(part.slice(at))
}
