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
import { mergeTrees, overrideTree } from './yaml/merge-trees.ts'
import { type ParsedYaml, parseYaml } from './yaml/parse-yaml.ts'
import { locationLookup } from './yaml/read-yaml.ts'
import type { SourceText } from './yaml/source-file.ts'
import type { YamlNode } from './yaml/yaml-tree.ts'

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
  const isJudgeable = ![...found, ...checked.misfits].some(isOfDeclarations)
  return {
    faults: all,
    ...(checked.settings &&
      isJudgeable && { project: toProject({ root, tree, files: [...files.seen] }, checked.settings) }),
  }
}

/** Adds the keys that no file has and the environment gives, and replaces those that options give. */
function withVariables(tree: YamlNode | undefined, environment: Environment): ReturnType<typeof mergeTrees> {
  if (!tree) return { tree, faults: [] }
  const options = parseGiven(overrideSource(environment), environment)
  const written = options.tree ? overrideTree(tree, options.tree) : tree
  const given = parseGiven(environmentSource(written, environment), environment)
  const merged = mergeTrees(given.tree ? [written, given.tree] : [written])
  return { ...merged, faults: [...options.faults, ...given.faults, ...merged.faults] }
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

const isOfDeclarations = ({ path }: Diagnostic): boolean => DECLARATIONS.has(path[0])

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
}

/** Validates against the schema; then, if the tree is complete, applies the rules to all parts that match the schema. */
export function checkTree(tree: YamlNode, isWhole: boolean, grammar: Grammar): CheckedTree {
  const shape = checkShape(tree, grammar)
  const misfits = shape.findings.map(finding => toDiagnostic(finding, tree))
  if (shape.fitting === undefined || !isWhole) return { misfits, faults: [] }
  const isWritten = writtenIn(shape.fitting)
  const settings = deriveDefaults(asSettings(fillDefaults(shape.fitting, grammar.schema)), isWritten)
  const broken = rules
    .flatMap(rule => [...rule(settings, isWritten)])
    .filter(finding => !isConsequence(finding, shape.misfits))
  return { settings, misfits, faults: broken.map(finding => toDiagnostic(finding, tree)) }
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
  graphql: 3,
  components: 4,
  contentTypes: 4,
  user: 3,
  apiTokens: 2,
  upload: 1,
}

/** True if a finding may be a consequence of a schema mismatch in the same unit, or above or below it. */
function isConsequence({ path }: ProjectFinding, misfits: readonly Path[]): boolean {
  const whole = UNIT_DEPTHS[String(path[0])] ?? path.length
  const isSame = (misfit: Path, depth: number) =>
    path.slice(0, depth).every((key, index) => key === misfit[index])
  return misfits.some(misfit => isSame(misfit, Math.min(whole, Math.max(misfit.length, 1))))
}

function toDiagnostic(finding: ProjectFinding, tree: YamlNode): Diagnostic {
  const { place, keyPlace } = locationLookup(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { place: keyPlace(related.path), message: related.message } }
  return { code, message, path, place: atKey ? keyPlace(path) : place(path), ...also }
}
