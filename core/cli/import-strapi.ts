import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printDiagnostic } from '../faults/diagnostic.ts'
import { type ImportedSchema, importSchema } from '../strapi/import-schema.ts'
import { readStrapi } from '../strapi/read-strapi.ts'
import type { StrapiProject } from '../strapi/strapi-project.ts'
import type { CommandTerms } from './command-terms.ts'
import { printStrapiReport } from './import-strapi-report.ts'
import { complain } from './schema-project.ts'

export interface ImportStrapiTerms extends CommandTerms {
  /** Of the Strapi project. */
  readonly dir: string
  readonly force: boolean
  readonly json: boolean
}

/** `plinth import strapi`: writes project.yaml and tells what did not come over. Answers the exit code: 0, or 1 where nothing was written. */
export async function runImportStrapi(terms: ImportStrapiTerms): Promise<0 | 1> {
  const file = join(terms.folder, 'project.yaml')
  if (existsSync(file) && !terms.force) {
    const message = `${file} is there already: give another folder with --out, or say --force to replace it`
    return complain(terms, [message])
  }
  const project = await readStrapi(terms.dir)
  if (!project.ok) return complain(terms, project.reasons)
  const imported = await importSchema(project.value)
  if (!imported.ok) return complain(terms, imported.reasons.map(printDiagnostic))
  await mkdir(terms.folder, { recursive: true })
  await writeFile(file, imported.value.yaml)
  return tell(terms, { file, project: project.value, imported: imported.value })
}

interface Done {
  readonly file: string
  readonly project: StrapiProject
  readonly imported: ImportedSchema
}

function tell(terms: ImportStrapiTerms, { file, project, imported }: Done): 0 {
  const { version, contentTypes, components } = project
  const counts = { contentTypes: contentTypes.length, components: components.length }
  const report = { strapi: version, file, ...counts, remarks: imported.remarks }
  terms.write(terms.json ? `${JSON.stringify(report)}\n` : printStrapiReport(report, terms))
  return 0
}
