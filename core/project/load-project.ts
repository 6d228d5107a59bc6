import { join, resolve } from 'node:path'
import { deepFreeze } from '../base/freeze.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { checkShape } from './check-shape.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { type Finding, sortDiagnostics } from './faults.ts'
import { mergeTrees } from './merge-trees.ts'
import type { Project } from './project.ts'
import type { ProjectFile } from './project-types.ts'
import { readProjectFiles } from './read-files.ts'
import { placesOf } from './read-yaml.ts'
import { rules } from './rules.ts'
import type { Settings } from './settings.ts'
import { toSettings } from './to-settings.ts'
import type { YamlNode } from './yaml-tree.ts'

const PROJECT_FILE = 'project.yaml'

/** Reads a project's file, includes and environment, checks them, and writes out what they leave unsaid; or tells every fault. */
export async function loadProject(folder: string, env: Environment): Promise<Result<Project, Diagnostic>> {
  const root = resolve(folder)
  const environment = await readEnvironment(root, env)
  const files = await readProjectFiles(join(root, PROJECT_FILE), environment.ok ? environment.value : env)
  const { tree, faults } = mergeTrees(files.trees)
  const found = [...(environment.ok ? [] : environment.reasons), ...files.faults, ...faults]
  if (tree === undefined || !files.complete) return failed(...sortDiagnostics(found))
  const { settings, findings } = checkTree(tree)
  const all = [...found, ...findings.map(finding => toDiagnostic(finding, tree))]
  if (settings === undefined || all.length > 0) return failed(...sortDiagnostics(all))
  return ok(toProject(root, tree, settings))
}

function toProject(root: string, tree: YamlNode, settings: Settings): Project {
  return Object.freeze({
    root,
    file: join(root, PROJECT_FILE),
    settings: deepFreeze(settings),
    ...placesOf(tree),
  })
}

interface Checked {
  readonly settings: Settings | undefined
  readonly findings: readonly Finding[]
}

/** The grammar first; then the rules, on all that fits the grammar. */
function checkTree(tree: YamlNode): Checked {
  const shape = checkShape(tree)
  if (shape.fitting === undefined) return { settings: undefined, findings: shape.findings }
  const settings = toSettings(fits(shape.fitting))
  const scopes = new Set(shape.findings.map(scopeOf))
  const broken = rules.flatMap(rule => rule(settings)).filter(finding => !scopes.has(scopeOf(finding)))
  return { settings, findings: [...shape.findings, ...broken] }
}

/** The schema let it pass, and the type is made from the schema. */
const fits = (value: unknown): ProjectFile => value as ProjectFile

/** One attribute, one named thing, or one section: where the grammar found a fault, a rule's finding may be its echo. */
function scopeOf({ path }: Finding): string {
  const isDeclaring = path[0] === 'contentTypes' || path[0] === 'components'
  const isNaming = path[0] === 'roles' || path[0] === 'apiTokens'
  return JSON.stringify(path.slice(0, isDeclaring ? 4 : isNaming ? 2 : path[0] === 'user' ? 3 : 1))
}

export function toDiagnostic(finding: Finding, tree: YamlNode): Diagnostic {
  const { place, keyPlace } = placesOf(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { place: keyPlace(related.path), message: related.message } }
  return { code, message, path, place: atKey ? keyPlace(path) : place(path), ...also }
}
