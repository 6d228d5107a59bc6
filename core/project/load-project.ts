import { join, resolve } from 'node:path'
import { deepFreeze, isRecord } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import { rules } from './checks/rules.ts'
import { type Environment, environmentSource, overrideSource, readEnvironment } from './environment.ts'
import { type ProjectFinding, sortDiagnostics } from './faults.ts'
import { checkShape } from './grammar/check-shape.ts'
import { type Grammar, openGrammar } from './grammar/grammar.ts'
import type { Project } from './project.ts'
import { readProjectFiles } from './read-files.ts'
import { isProjectSecret } from './secret-ranges.ts'
import { deriveDefaults, type IsWritten } from './settings/derive-defaults.ts'
import { fillDefaults } from './settings/fill-defaults.ts'
import type { Settings } from './settings/settings.ts'
import { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
import { locationLookup } from './yaml/read-yaml.ts'
import { locationAt, type SourceText } from './yaml/source-file.ts'
import type { YamlEntry, YamlMap, YamlNode } from './yaml/yaml-tree.ts'

const PROJECT_FILE = 'project.yaml'

/** A project together with its faults. */
export interface ReadProject {
  /** Every fault of its files, sorted by location. */
  readonly faults: readonly Diagnostic[]
  /**
   * Present even if the files have faults, so that further checks can run; parts that do not match the schema are left
   * out. Absent if the declarations have faults: further checks would only report consequences of them.
   */
  readonly project?: Project
}

/** Reads and checks a project's file, includes and environment, and fills in the defaults. Fails with every fault. */
export async function loadProject(folder: string, env: Environment): Promise<Result<Project, Diagnostic>> {
  const { project, faults } = await readProject(folder, env)
  return project === undefined || faults.length > 0 ? failed(...faults) : ok(project)
}

/** Like `loadProject`, but returns the project together with its faults, for commands that run further checks. */
export async function readProject(folder: string, env: Environment): Promise<ReadProject> {
  const root = resolve(folder)
  const environment = await readEnvironment(root, env)
  const variables = environment.ok ? environment.value : env
  const files = await readProjectFiles(join(root, PROJECT_FILE), variables)
  const written = mergeTrees(files.trees)
  const { tree, faults } = withVariables(written.tree, variables)
  const found = [
    ...(environment.ok ? [] : environment.reasons),
    ...files.faults,
    ...written.faults,
    ...faults,
  ]
  if (tree === undefined) return { faults: sortDiagnostics(found) }
  const checked = checkTree(tree, files.complete, await openGrammar())
  const all = sortDiagnostics([...found, ...checked.misfits, ...checked.faults])
  const isJudgeable = checked.isJudgeable && ![...found, ...checked.misfits].some(isOfDeclarations)
  return {
    faults: all,
    ...(checked.settings &&
      isJudgeable && { project: toProject({ root, tree, files: [...files.seen] }, checked.settings) }),
  }
}

/** Adds the keys that no file has and the environment gives, and replaces those that options give. */
function withVariables(tree: YamlNode | undefined, environment: Environment): ReturnType<typeof mergeTrees> {
  // What options give is not the content of a file that is empty.
  if (!tree || isEmpty(tree)) return { tree, faults: [] }
  const options = parseGiven(overrideSource(environment), environment)
  const written = options.tree ? overrideTree(tree, options.tree) : tree
  const input = parseGiven(environmentSource(written, environment), environment)
  const merged = mergeTrees(input.tree ? [written, input.tree] : [written])
  return { ...merged, faults: [...options.faults, ...input.faults, ...merged.faults] }
}

const parseGiven = (source: SourceText | null, environment: Environment): ParsedYaml =>
  source ? parseYaml(source, { environment, isSecret: isProjectSecret }) : { faults: [] }

/** The sections that declare the model and the permissions. */
const DECLARATIONS = new Set<unknown>([
  undefined,
  'include',
  'i18n',
  'components',
  'contentTypes',
  'user',
  'roles',
  'apiTokens',
])

const isOfDeclarations = ({ path }: { readonly path: Path }): boolean => DECLARATIONS.has(path[0])

type Read = Pick<Project, 'root' | 'files'> & { readonly tree: YamlNode }

function toProject({ root, tree, files }: Read, settings: Settings): Project {
  return Object.freeze({
    root,
    file: join(root, PROJECT_FILE),
    files,
    settings: deepFreeze(settings),
    ...locationLookup(tree),
  })
}

/** The result of checking a project's merged tree. */
interface CheckedTree {
  /** The settings of all parts that match the schema; absent if nothing does. */
  readonly settings?: Settings
  /** Parts that do not match the schema. */
  readonly misfits: readonly Diagnostic[]
  /** Violations of the rules. */
  readonly faults: readonly Diagnostic[]
  /** No declaration is missing because its key is misspelt. */
  readonly isJudgeable: boolean
}

/** Validates against the schema; then, if the tree is complete, applies the rules to all parts that match the schema. */
export function checkTree(tree: YamlNode, isWhole: boolean, grammar: Grammar): CheckedTree {
  const shape = checkShape(tree, grammar)
  const misfits = shape.findings.map(finding => toDiagnostic(finding, tree))
  const isJudgeable = !shape.misfits.some(path => isOfDeclarations({ path }))
  if (shape.fitting === undefined || !isWhole) return { misfits, faults: [], isJudgeable }
  const isWritten = writtenIn(shape.fitting)
  const settings = deriveDefaults(asSettings(fillDefaults(shape.fitting, grammar.schema)), isWritten)
  const isConsequence = consequencesOf(shape.misfits)
  const broken = rules
    .flatMap(rule => [...rule(settings, isWritten)])
    .filter(finding => !isConsequence(finding))
  return { settings, misfits, faults: broken.map(finding => toDiagnostic(finding, tree)), isJudgeable }
}

/** Safe: the schema accepted the file, and the type is generated from the same schema. */
const asSettings = (filled: unknown): Settings => filled as Settings

const writtenIn =
  (file: unknown): IsWritten =>
  (...path) => {
    const holder = path.slice(0, -1).reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), file)
    return isRecord(holder) && Object.hasOwn(holder, path.at(-1) ?? '')
  }

/** By section: the number of path keys that identify a unit, whose parts depend on each other. */
const UNIT_DEPTHS: Readonly<Record<string, number>> = {
  server: 2,
  i18n: 1,
  rest: 1,
  console: 1,
  graphql: 3,
  components: 4,
  contentTypes: 4,
  user: 3,
  apiTokens: 2,
  upload: 1,
}

/** True for findings that may be a consequence of a schema mismatch in the same unit, or above or below it. */
function consequencesOf(misfits: readonly Path[]): (finding: ProjectFinding) => boolean {
  const keyOf = (path: Path): string => JSON.stringify(path)
  const upTo = (path: Path): readonly string[] => path.map((_, index) => keyOf(path.slice(0, index + 1)))
  const exact = new Set(misfits.map(keyOf))
  const above = new Set(misfits.flatMap(upTo))
  const isMisfit = (path: Path): boolean => above.has(keyOf(path)) || upTo(path).some(key => exact.has(key))
  return ({ path, missing }) =>
    isMisfit(path.slice(0, UNIT_DEPTHS[String(path[0])] ?? path.length)) ||
    (missing !== undefined && isMisfit(missing))
}

function toDiagnostic(finding: ProjectFinding, tree: YamlNode): Diagnostic {
  const { location, keyLocation } = locationLookup(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { location: keyLocation(related.path), message: related.message } }
  return { code, message, path, location: atKey ? keyLocation(path) : location(path), ...also }
}

/** Mappings that several files may extend. Everything else must be in one file. */
const JOINED = new Set([
  '',
  ...[
    'server',
    'database',
    'i18n',
    'rest',
    'console',
    'graphql',
    'cache',
    'components',
    'contentTypes',
    'user',
    'roles',
  ],
  ...['apiTokens', 'routesConfig', 'resolversConfig', 'auth', 'upload'],
  ...['graphql.config', 'graphql.shadowCRUD', 'user.attributes'],
])

/** Merges the trees of a project's files. A name defined twice is reported with both locations; the first one is kept. */
export function mergeTrees(trees: readonly YamlNode[]): {
  tree: YamlNode | undefined
  faults: readonly Diagnostic[]
} {
  const faults: Diagnostic[] = []
  const [first, ...others] = trees
  if (first === undefined) return { tree: undefined, faults }
  const tree = others.reduce((merged, other) => addFile(merged, other, faults), first)
  return { tree, faults }
}

function addFile(merged: YamlNode, other: YamlNode, faults: Diagnostic[]): YamlNode {
  if (other.kind === 'map') return mergeNodes(merged, withoutInclude(other), { path: [], faults })
  if (!isEmpty(other)) {
    const message = 'an included file is a mapping, with the keys of the project file'
    faults.push({ code: 'wrong-type', message, location: locationAt(other.mark), path: [] })
  }
  return merged
}

/** `include` of an included file was checked when it was followed; the project file's own is checked by the schema. */
const withoutInclude = (map: YamlMap): YamlMap => ({
  ...map,
  entries: new Map(Array.from(map.entries).filter(([name]) => name !== 'include')),
})

/** Replaces the values that another tree has. */
function overrideTree(tree: YamlNode, other: YamlNode): YamlNode {
  if (other.kind !== 'map') return other
  if (tree.kind !== 'map') return isEmpty(tree) ? other : tree
  const entries = new Map(tree.entries)
  for (const [name, { key, value }] of other.entries) {
    const before = entries.get(name)
    entries.set(name, { key, value: before ? overrideTree(before.value, value) : value })
  }
  return { ...tree, entries }
}

interface Merge {
  readonly path: Path
  readonly faults: Diagnostic[]
}

function mergeNodes(first: YamlNode, second: YamlNode, merge: Merge): YamlNode {
  if (isEmpty(second)) return first
  if (isEmpty(first)) return second
  if (first.kind !== 'map' || second.kind !== 'map') return first
  return mergeMaps(first, second, merge)
}

const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null

function mergeMaps(first: YamlMap, second: YamlMap, { path, faults }: Merge): YamlMap {
  const entries = new Map(first.entries)
  for (const [name, entry] of second.entries) {
    const before = entries.get(name)
    const here = [...path, name]
    if (before === undefined) entries.set(name, entry)
    else if (isJoined(here, before, entry)) {
      entries.set(name, {
        key: before.key,
        value: mergeNodes(before.value, entry.value, { path: here, faults }),
      })
    } else faults.push(definedTwice(here, before, entry))
  }
  return { ...first, entries }
}

const isJoined = (path: Path, ...entries: readonly YamlEntry[]): boolean =>
  JOINED.has(path.join('.')) && entries.every(({ value }) => value.kind === 'map' || isEmpty(value))

const definedTwice = (path: Path, first: YamlEntry, second: YamlEntry): Diagnostic => ({
  code: 'duplicate-name',
  message: `\`${path.join('.')}\` is defined twice`,
  location: locationAt(second.key),
  path,
  related: { location: locationAt(first.key), message: 'it is defined here, too' },
})
