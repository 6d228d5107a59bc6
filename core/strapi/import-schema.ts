import type { Result } from '../base/result.ts'
import { ok } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { type Names, nameAll } from './names.ts'
import { printSheet } from './print-sheet.ts'
import type { StrapiFacts } from './read-facts.ts'
import { repairSheet } from './repair-sheet.ts'
import { type Remark, remarksOf } from './sheet.ts'
import type { StrapiProject } from './strapi-project.ts'
import { translate } from './translate.ts'

/** A project file, and what was said in it. */
export interface ImportedSchema {
  readonly yaml: string
  readonly names: Names
  readonly remarks: readonly Remark[]
}

/** read → name → translate → repair → print. The answer's file has no fault. */
export async function importSchema(
  project: StrapiProject,
  facts: StrapiFacts | null,
): Promise<Result<ImportedSchema, Diagnostic>> {
  const names = nameAll(project)
  const repaired = await repairSheet(translate(project, names, facts))
  if (!repaired.ok) return repaired
  return ok({ yaml: printSheet(repaired.value), names, remarks: [...remarksOf(repaired.value)] })
}
