import { type Access, compileAccess, projectStorage } from '../access/compile/compile-access.ts'
import { type Explainer, openExplainer } from '../access/explain/explain.ts'
import { hintFor } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { compileModel } from '../model/compile-model.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Environment } from '../project/environment.ts'
import { loadProject } from '../project/load-project.ts'
import type { Project } from '../project/project.ts'

/** The parts of a project that permissions need. Reads neither content/ nor a database. */
export interface RolesProject {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
  readonly access: Access
  readonly explainer: Explainer
}

export async function loadRoles(folder: string, env: Environment): Promise<Result<RolesProject, Diagnostic>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return project
  const model = compileModel(project.value)
  if (!model.ok) return model
  const access = compileAccess(project.value, model.value)
  if (!access.ok) return access
  const explainer = openExplainer(project.value, model.value, access.value)
  const storage = projectStorage(project.value, model.value)
  return ok({ project: project.value, model: model.value, storage, access: access.value, explainer })
}

/** The candidates with these names; all of them if there are no names. Fails with a sentence for each unknown name. */
export function pick<Candidate>(
  noun: string,
  names: readonly string[],
  candidates: readonly Candidate[],
  nameOf: (candidate: Candidate) => string,
): Result<readonly Candidate[], string> {
  const known = candidates.map(nameOf)
  const unknown = names.filter(name => !known.includes(name))
  if (unknown.length > 0) return failed(...unknown.map(name => unknownName(noun, name, known)))
  return ok(names.length === 0 ? candidates : candidates.filter(each => names.includes(nameOf(each))))
}

/** A hint: the nearest known name, or all of them if they are few, or that there are none. */
export function unknownName(noun: string, name: string, known: readonly string[]): string {
  return `unknown ${noun} \`${name}\`${hintFor(name, known)}`
}
