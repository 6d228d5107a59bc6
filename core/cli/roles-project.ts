import { type Access, compileAccess } from '../access/compile-access.ts'
import { type Explainer, openExplainer } from '../access/explain.ts'
import { storageOf } from '../access/storage-of.ts'
import { ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { compileModel } from '../model/compile-model.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Environment } from '../project/environment.ts'
import { loadProject } from '../project/load-project.ts'
import type { Project } from '../project/project.ts'

/** A project as far as permissions need it: neither content/ nor a database is read. */
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
  const storage = storageOf(project.value, model.value)
  return ok({ project: project.value, model: model.value, storage, access: access.value, explainer })
}
