import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import { printMatrixJson } from './roles-json.ts'
import { type MatrixFilter, type MatrixPart, printMatrix, toMatrix } from './roles-matrix.ts'
import type { RolesContext } from './roles-output.ts'
import { loadRoles, type RolesProject } from './roles-project.ts'

/** `plinth roles`: who may do what. Answers the exit code: 0, 1 for faults of the project, 2 for unknown words. */
export async function runRoles(terms: RolesContext, narrowing: MatrixFilter): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(terms.folder, terms.env)
  if (!loaded.ok) return complainOf(loaded.reasons, terms)
  const matrix = toMatrix(loaded.value, narrowing)
  if (!matrix.ok) {
    terms.complain(`${matrix.reasons.join('\n')}\n`)
    return 2
  }
  terms.write(print(matrix.value, loaded.value, terms))
  return 0
}

/** Reports the faults of a project. */
export function complainOf(faults: readonly Diagnostic[], { complain, folder }: RolesContext): 1 {
  complain(`${faults.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n`)
  return 1
}

function print(
  parts: readonly MatrixPart[],
  { project }: RolesProject,
  { form, paint }: RolesContext,
): string {
  switch (form) {
    case 'json':
      return printMatrixJson(parts, project)
    case 'text':
      return printMatrix(parts, { project, paint })
  }
}
