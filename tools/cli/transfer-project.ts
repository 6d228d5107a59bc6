import { checkedProjectStorage } from '../../core/access/compile/compile-access.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import type { CommandTerms } from './command-terms.ts'
import { unknownName } from './roles/roles-names.ts'

/** A project as far as its documents need it. */
export interface TransferProject {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
}

export async function loadTransfer({
  folder,
  env,
}: Pick<CommandTerms, 'folder' | 'env'>): Promise<Result<TransferProject, string>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return failed(...project.reasons.map(printDiagnostic))
  const model = compileModel(project.value)
  if (!model.ok) return failed(...model.reasons.map(printDiagnostic))
  const storage = checkedProjectStorage(project.value, model.value)
  if (!storage.ok) return failed(...storage.reasons.map(printDiagnostic))
  return ok({ project: project.value, model: model.value, storage: storage.value })
}

/** Files and users, which others link to, then the project's own types; roles and locales are the project file's. */
function transferableTypes({ contentTypes, builtIn }: Model): readonly ContentType[] {
  const own = [...contentTypes.values()].filter(type => !type.builtIn)
  return [builtIn.file, builtIn.user, ...own]
}

/** The types of these keys or uids, in the order of the stream; all where none is named. */
export function pickTypes(names: readonly string[], model: Model): Result<readonly ContentType[], string> {
  const types = transferableTypes(model)
  if (names.length === 0) return ok(types)
  const isNamed = ({ key, uid }: ContentType) => names.includes(key) || names.includes(uid)
  const unknown = names.filter(name => !types.some(({ key, uid }) => key === name || uid === name))
  if (unknown.length === 0) return ok(types.filter(isNamed))
  const known = types.map(({ key }) => key)
  return failed(...unknown.map(name => unknownName('content-type', name, known)))
}
