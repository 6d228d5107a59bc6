import { ok, type Result } from '../../core/base/result.ts'
import type { Diagnostic } from '../../core/faults/diagnostic.ts'
import { repairSheet } from './drop-invalid.ts'
import { type Names, nameAll } from './names.ts'
import type { StrapiFacts } from './read/read-facts.ts'
import type { StrapiProject } from './read/strapi-project.ts'
import { translate } from './translate.ts'
import { printSheet, type Remark, remarksOf } from './yaml-document.ts'

/** A project file, and its comments. */
export interface ImportedSchema {
  readonly yaml: string
  readonly names: Names
  readonly remarks: readonly Remark[]
}

/** Converts a Strapi project to a project file without faults. Facts of the database replace those of files. */
export async function importSchema(
  project: StrapiProject,
  facts: StrapiFacts | null,
): Promise<Result<ImportedSchema, Diagnostic>> {
  const names = nameAll(project)
  const repaired = await repairSheet(translate(project, names, facts ?? project.synced))
  if (!repaired.ok) return repaired
  return ok({ yaml: printSheet(repaired.value), names, remarks: [...remarksOf(repaired.value)] })
}
