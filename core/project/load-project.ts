import { join, resolve } from 'node:path'
import { deepFreeze } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { sortDiagnostics } from './faults.ts'
import { checkTree } from './grammar/check-tree.ts'
import { openGrammar } from './grammar/grammar.ts'
import type { Project } from './project.ts'
import { readProjectFiles } from './read-files.ts'
import type { Settings } from './settings/settings.ts'
import { mergeTrees } from './yaml/merge-trees.ts'
import { placesOf } from './yaml/read-yaml.ts'
import type { YamlNode } from './yaml/yaml-tree.ts'

const PROJECT_FILE = 'project.yaml'

/** A project as it was found. */
export interface ReadProject {
  /** Every fault of its files, sorted by place. */
  readonly faults: readonly Diagnostic[]
  /**
   * There even where the files have faults, so that others can go on judging: what did not fit the grammar is left
   * out. Absent where a fault lies in what others would judge, since they would only tell its echoes.
   */
  readonly project?: Project
}

/** Reads a project's file, includes and environment, checks them, and writes out what they leave unsaid; or tells every fault. */
export async function loadProject(folder: string, env: Environment): Promise<Result<Project, Diagnostic>> {
  const { project, faults } = await readProject(folder, env)
  return project === undefined || faults.length > 0 ? failed(...faults) : ok(project)
}

/** As `loadProject`, for whoever wants to go on checking a project that has faults. */
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

/** The sections that the model and the permissions are made of. */
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
    ...placesOf(tree),
  })
}
