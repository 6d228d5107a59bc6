import { existsSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { failed, type Result } from '../../../core/base/result.ts'
import { type Path, printDiagnostic, type SourceLocation } from '../../../core/faults/diagnostic.ts'
import { readEnvironment } from '../../../core/project/environment.ts'
import { complainOf } from './roles.ts'
import { type DiffTerms, printDiff, printDiffJson, printDiffMarkdown } from './roles-diff-print.ts'
import { compareRoles, type Difference } from './roles-differences.ts'
import type { RolesTerms } from './roles-output.ts'
import { loadRoles, type RolesProject } from './roles-project.ts'
import { checkOut, type ProjectAtRef } from './roles-ref.ts'

/**
 * `plinth roles diff`: what a change of the project grants and takes away, since a commit. Answers the exit code: 0
 * where nothing is granted, 2 where something is or may be, 1 for faults of either project and of git.
 */
export async function runDiff(terms: RolesTerms, ref: string): Promise<0 | 1 | 2> {
  const after = await loadRoles(terms.folder, terms.env)
  if (!after.ok) return complainOf(after.reasons, terms)
  const files = await checkOut(ref, terms.folder)
  if (!files.ok) return complain(files.reasons.join('\n'), terms)
  const before = await loadAt(ref, files.value, terms).finally(files.value.remove)
  if (!before.ok) return complain(before.reasons.join('\n\n'), terms)
  const differences = compareRoles(before.value, after.value)
  terms.write(
    print(differences, terms, toTerms(ref, files.value, { before: before.value, after: after.value })),
  )
  return differences.some(({ effect }) => effect !== 'takes') ? 2 : 0
}

function complain(reason: string, terms: RolesTerms): 1 {
  terms.complain(`${reason}\n`)
  return 1
}

/** With the environment of now: what a commit does not hold cannot be asked for. */
async function loadAt(
  ref: string,
  files: ProjectAtRef,
  { folder, env }: RolesTerms,
): Promise<Result<RolesProject, string>> {
  if (!existsSync(join(files.folder, 'project.yaml')))
    return failed(`${ref} has no project.yaml in this folder`)
  const environment = await readEnvironment(folder, env)
  const loaded = await loadRoles(files.folder, environment.ok ? environment.value : env)
  if (loaded.ok) return loaded
  const head = `The project of ${ref} has faults, so nothing can be compared with it:`
  return failed(
    head,
    ...loaded.reasons.map(fault => printDiagnostic({ ...fault, place: placeAt(ref, files, fault.place) })),
  )
}

/** `main:project.yaml`, as git has it; included files from outside the project's folder too. */
function placeAt(ref: string, { folder, top }: ProjectAtRef, place: SourceLocation): SourceLocation {
  const file =
    isAbsolute(place.file) && place.file.startsWith(top) ? relative(folder, place.file) : place.file
  return { ...place, file: `${ref}:${file}` }
}

interface Both {
  readonly before: RolesProject
  readonly after: RolesProject
}

const toTerms = (ref: string, files: ProjectAtRef, { before, after }: Both) => ({
  ref,
  placeBefore: (path: Path) => placeAt(ref, files, before.project.keyPlace(path)),
  placeAfter: (path: Path) => after.project.keyPlace(path),
})

function print(
  differences: readonly Difference[],
  { form, paint }: RolesTerms,
  terms: Omit<DiffTerms, 'paint'>,
): string {
  switch (form) {
    case 'json':
      return printDiffJson(differences, { ...terms, paint })
    case 'markdown':
      return printDiffMarkdown(differences, { ...terms, paint })
    case 'text':
      return printDiff(differences, { ...terms, paint })
  }
}
