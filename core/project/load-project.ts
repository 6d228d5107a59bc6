import { join, resolve } from 'node:path'
import { deepFreeze } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { checkTree } from './check-tree.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { sortDiagnostics } from './faults.ts'
import { openGrammar } from './grammar/grammar.ts'
import type { Project } from './project.ts'
import { readProjectFiles } from './read-files.ts'
import type { Settings } from './settings/settings.ts'
import { mergeTrees } from './yaml/merge-trees.ts'
import { locationLookup } from './yaml/read-yaml.ts'
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
  const files = await readProjectFiles(join(root, PROJECT_FILE), environment.ok ? environment.value : env)
  const { tree, faults } = mergeTrees(files.trees)
  const found = [...(environment.ok ? [] : environment.reasons), ...files.faults, ...faults]
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
