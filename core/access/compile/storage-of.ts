import { ok, type Result } from '../../base/result.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { compileStorage } from '../../model/compile-storage.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Project } from '../../project/project.ts'
import { compileAccess } from './compile-access.ts'
import { expectedLists } from './expected-lists.ts'

/** Where a project's values lie; permissions say what lists to expect. */
export const storageOf = ({ settings }: Project, model: Model): Storage =>
  compileStorage(model, settings.database.indexes === 'derived' ? expectedLists(settings, model) : null)

/** The same of a project whose permissions nobody has looked at yet. */
export function checkedStorage(project: Project, model: Model): Result<Storage, Diagnostic> {
  const access = compileAccess(project, model)
  return access.ok ? ok(storageOf(project, model)) : access
}
