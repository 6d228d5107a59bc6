import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Environment } from './environment.ts'
import type { ProjectFault } from './faults.ts'
import { filesMatching, isPattern } from './glob.ts'
import { isProjectSecret } from './project-secrets.ts'
import { readSource, shownPath } from './read-source.ts'
import { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
import { placeAt } from './yaml/source-file.ts'
import type { YamlNode, YamlScalar } from './yaml/yaml-tree.ts'

/** The trees of the project file and of all that it includes, in order, the project file first. */
export interface ProjectFiles {
  readonly trees: readonly YamlNode[]
  /** Absolute paths of what was read, or was to be. */
  readonly seen: ReadonlySet<string>
  readonly faults: readonly Diagnostic[]
  /** Every file could be parsed; otherwise the trees do not tell the whole. */
  readonly complete: boolean
}

interface Journey {
  readonly root: string
  readonly environment: Environment
  readonly seen: Set<string>
  readonly faults: Diagnostic[]
  readonly trees: YamlNode[]
  complete: boolean
}

/** Reads the project file and, depth first, its includes. A file that two others include is read once. */
export async function readProjectFiles(file: string, environment: Environment): Promise<ProjectFiles> {
  const journey: Journey = {
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

/** The last of `trail` is the file to read, those before it are the files that led to it. */
async function visitFile(journey: Journey, trail: readonly string[]): Promise<void> {
  const file = trail.at(-1) ?? ''
  journey.seen.add(file)
  const { tree, faults } = await parseFile(journey, file)
  journey.faults.push(...faults)
  if (tree === undefined) journey.complete = false
  if (tree === undefined) return
  journey.trees.push(tree)
  for (const item of includesOf(journey, tree, trail.length > 1)) {
    for (const path of await pathsOf(journey, item, file)) await follow(journey, item, [...trail, path])
  }
}

async function parseFile(journey: Journey, file: string): Promise<ParsedYaml> {
  const source = await readSource(file, journey.root)
  if (!source.ok) return { faults: source.reasons }
  return parseYaml(source.value, { environment: journey.environment, isSecret: isProjectSecret })
}

/** The texts of `include`. The schema judges the rest of it in the project file, and nobody else does in another. */
function includesOf(journey: Journey, tree: YamlNode, isIncluded: boolean): readonly YamlScalar[] {
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

async function pathsOf(journey: Journey, item: YamlScalar, from: string): Promise<readonly string[]> {
  const said = String(item.value)
  if (isAbsolute(said) || said.includes('\0')) {
    report(journey, item, 'bad-include', 'an include is a path from the folder of its own file')
    return []
  }
  const found = isPattern(said) ? await matchesOf(said, from) : existing(resolve(dirname(from), said))
  if (found.length === 0)
    report(
      journey,
      item,
      'bad-include',
      `there is no file \`${said}\` in the folder of ${shownPath(from, journey.root)}`,
    )
  return found
}

/** A pattern never takes the file that it stands in. */
async function matchesOf(pattern: string, from: string): Promise<readonly string[]> {
  const found = await filesMatching(dirname(from), pattern)
  return found.filter(path => path !== from)
}

const existing = (path: string): readonly string[] => (existsSync(path) ? [path] : [])

async function follow(journey: Journey, item: YamlScalar, trail: readonly string[]): Promise<void> {
  const file = trail.at(-1) ?? ''
  const since = trail.indexOf(file)
  if (since < trail.length - 1) {
    const circle = trail.slice(since).map(path => shownPath(path, journey.root))
    return report(journey, item, 'include-cycle', `the include goes in a circle: ${circle.join(' → ')}`)
  }
  if (journey.seen.has(file)) return
  await visitFile(journey, trail)
}

function report(journey: Journey, item: YamlNode, code: ProjectFault, message: string): void {
  journey.faults.push({ code, message, place: placeAt(item.mark), path: ['include'] })
}
