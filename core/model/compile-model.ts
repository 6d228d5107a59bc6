import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Project } from '../project/project.ts'
import { buildModel } from './build-model.ts'
import { checkDeclarations } from './check/check-declarations.ts'
import { toDeclarations } from './declarations.ts'
import type { Model } from './model.ts'

/** What a project declares becomes its model, or everything that is wrong with it as a whole. */
export function compileModel(project: Project): Result<Model, Diagnostic> {
  const declarations = toDeclarations(project.settings)
  const diagnostics = checkDeclarations(declarations, project)
  return diagnostics.length === 0 ? ok(buildModel(declarations)) : failed(...diagnostics)
}
