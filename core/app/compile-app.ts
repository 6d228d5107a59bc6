import { type Access, compileAccess } from '../access/compile-access.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { compileModel } from '../model/compile-model.ts'
import { compileStorage } from '../model/compile-storage.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Environment } from '../project/environment.ts'
import { loadProject } from '../project/load-project.ts'
import type { Project } from '../project/project.ts'

/** A project file and all that follows from it alone: nothing is opened yet. Frozen. */
export interface Blueprint {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
  readonly access: Access
}

/** Folder → project → model → storage, access; or everything that is wrong with the files. */
export async function compileApp(folder: string, env: Environment): Promise<Result<Blueprint, Diagnostic>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return project
  const model = compileModel(project.value)
  if (!model.ok) return model
  const access = compileAccess(project.value, model.value)
  if (!access.ok) return failed(...access.reasons)
  return ok(
    Object.freeze({
      project: project.value,
      model: model.value,
      storage: compileStorage(model.value),
      access: access.value,
    }),
  )
}
