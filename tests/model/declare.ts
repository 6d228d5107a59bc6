import { join } from 'node:path'
import type { Result } from '../../core/base/result.ts'
import type { Diagnostic } from '../../core/faults/diagnostic.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import { temporaryFolder } from '../harness/folder.ts'

const conformance = join(import.meta.dirname, '..', 'conformance', 'project')

/** The project that a few lines of YAML declare; its name is added behind them. */
export async function declare(yaml: string): Promise<Project> {
  const folder = temporaryFolder()
  try {
    folder.write('project.yaml', yaml === '' ? 'name: Test\n' : `${yaml}\nname: Test\n`)
    return loaded(await loadProject(folder.path, {}))
  } finally {
    folder.remove()
  }
}

export const conformanceProject = async (): Promise<Project> => loaded(await loadProject(conformance, {}))

function loaded(result: Result<Project, Diagnostic>): Project {
  if (result.ok) return result.value
  throw new Error(result.reasons.map(({ message }) => message).join('\n'))
}
