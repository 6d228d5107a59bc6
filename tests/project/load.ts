import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import type { Environment } from '../../core/project/environment.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import { temporaryFolder } from '../harness/folder.ts'

export type Files = Readonly<Record<string, string | Uint8Array>>

/** Loads a project of these files; a text alone is its project.yaml. */
export async function load(
  files: string | Files,
  env: Environment = {},
): Promise<Project | readonly string[]> {
  const folder = temporaryFolder()
  const all = typeof files === 'string' ? { 'project.yaml': files } : files
  for (const [name, text] of Object.entries(all)) folder.write(name, text)
  const loaded = await loadProject(folder.path, env)
  folder.remove()
  return loaded.ok ? loaded.value : loaded.reasons.map(printDiagnostic)
}

/** For a project that has no fault. */
export async function loadGood(files: string | Files, env: Environment = {}): Promise<Project> {
  const loaded = await load(files, env)
  if ('settings' in loaded) return loaded
  throw new Error(loaded.join('\n'))
}

/** The first line of each fault, without the path in brackets. */
export async function faultsOf(files: string | Files, env: Environment = {}): Promise<readonly string[]> {
  const loaded = await load(files, env)
  return 'settings' in loaded ? [] : loaded.map(text => text.split('\n')[0] ?? '')
}
