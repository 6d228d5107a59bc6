import { pickTypes, type TransferProject } from '../../core/cli/transfer-project.ts'
import type { Database } from '../../core/database/database.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { loadProject } from '../../core/project/load-project.ts'
import { exportDocuments } from '../../core/transfer/export-documents.ts'

/** The lines that an export of the project comes to. */
export async function exported(
  folder: string,
  database: Database,
  {
    types = [],
    passwords = false,
  }: { readonly types?: readonly string[]; readonly passwords?: boolean } = {},
): Promise<readonly string[]> {
  const transfer = await loaded(folder)
  const picked = pickTypes(types, transfer.model)
  if (!picked.ok) throw new Error(picked.reasons.join('\n'))
  return exportDocuments(database, { ...transfer, types: picked.value, passwords }, async ({ pieces }) => {
    let text = ''
    for await (const piece of pieces) text += piece.text
    return text.trimEnd().split('\n')
  })
}

async function loaded(folder: string): Promise<TransferProject> {
  const project = await loadProject(folder, {})
  if (!project.ok) throw new Error(project.reasons.map(({ message }) => message).join('\n'))
  const model = compileModel(project.value)
  if (!model.ok) throw new Error(model.reasons.map(({ message }) => message).join('\n'))
  return { project: project.value, model: model.value, storage: compileStorage(model.value) }
}
