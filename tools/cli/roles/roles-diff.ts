import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath, rm } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { didYouMean } from '../../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { locationJson } from '../../../core/explain/report.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import { type Path, printDiagnostic, type SourceLocation } from '../../../core/faults/diagnostic.ts'
import { readEnvironment } from '../../../core/project/environment.ts'
import { temporaryFolder } from '../../transfer/partial-path.ts'
import type { Colour, Paint } from '../paint.ts'
import { complainOf } from './roles.ts'
import { compareRoles, type Difference, type Effect } from './roles-differences.ts'
import { printLocation, type RolesContext, WIDTH, wrap } from './roles-output.ts'

/**
 * `plinth roles diff`: the permissions granted and revoked since a commit. Returns the exit code: 0 if nothing is
 * granted, 2 if something is or may be granted, 1 for faults of either project or of git.
 */
export async function runDiff(options: RolesContext, ref: string): Promise<0 | 1 | 2> {
  const after = await loadRoles(options.folder, options.env)
  if (!after.ok) return complainOf(after.reasons, options)
  const files = await checkOut(ref, options.folder)
  if (!files.ok) return writeError(files.reasons.join('\n'), options)
  const before = await loadAt(ref, files.value, options).finally(files.value.remove)
  if (!before.ok) return writeError(before.reasons.join('\n\n'), options)
  const differences = compareRoles(before.value, after.value)
  options.write(
    print(differences, options, toOptions(ref, files.value, { before: before.value, after: after.value })),
  )
  return differences.some(({ effect }) => effect !== 'takes') ? 2 : 0
}

function writeError(reason: string, options: RolesContext): 1 {
  options.writeError(`${reason}\n`)
  return 1
}

/** Uses the current environment, because a commit does not contain one. */
export async function loadAt(
  ref: string,
  files: ProjectAtRef,
  { folder, env }: RolesContext,
): Promise<Result<RolesProject, string>> {
  if (!existsSync(join(files.folder, 'project.yaml')))
    return failed(`${ref} has no project.yaml in this folder`)
  const environment = await readEnvironment(folder, env)
  const loaded = await loadRoles(files.folder, environment.ok ? environment.value : env)
  if (loaded.ok) return loaded
  const head = `The project of ${ref} has faults, so nothing can be compared with it:`
  return failed(
    head,
    ...loaded.reasons.map(fault =>
      printDiagnostic({ ...fault, location: locationAtRef(ref, files, fault.location) }),
    ),
  )
}

/** `main:project.yaml`, in git's notation; also for included files outside the project's folder. */
export function locationAtRef(
  ref: string,
  { folder, top }: ProjectAtRef,
  location: SourceLocation,
): SourceLocation {
  const file =
    isAbsolute(location.file) && location.file.startsWith(top)
      ? relative(folder, location.file)
      : location.file
  return { ...location, file: `${ref}:${file}` }
}

interface Both {
  readonly before: RolesProject
  readonly after: RolesProject
}

const toOptions = (ref: string, files: ProjectAtRef, { before, after }: Both) => ({
  ref,
  placeBefore: (path: Path) => locationAtRef(ref, files, before.project.keyLocation(path)),
  placeAfter: (path: Path) => after.project.keyLocation(path),
})

function print(
  differences: readonly Difference[],
  { form, paint }: RolesContext,
  options: Omit<DiffOptions, 'paint'>,
): string {
  switch (form) {
    case 'json':
      return printDiffJson(differences, { ...options, paint })
    case 'text':
      return printDiff(differences, { ...options, paint })
  }
}

/** Finds the locations of the differences. */
interface DiffOptions {
  /** The ref of the command line. */
  readonly ref: string
  readonly placeBefore: (path: Path) => SourceLocation
  readonly placeAfter: (path: Path) => SourceLocation
  readonly paint: Paint
}

const MARKS: Readonly<Record<Effect, string>> = { grants: '+', 'may-grant': '?', takes: '-' }
const COLOURS: Readonly<Record<Effect, Colour>> = { grants: 'red', 'may-grant': 'yellow', takes: 'green' }
const VERBS: Readonly<Record<Effect, string>> = {
  grants: 'may now',
  'may-grant': 'may otherwise',
  takes: 'may no longer',
}

/** Grants (`+`) come first, then possible grants (`?`), then revocations (`-`). */
function printDiff(differences: readonly Difference[], options: DiffOptions): string {
  if (differences.length === 0) return `Since ${options.ref}, nothing that anybody may do has changed.\n`
  const parts = differences.map(each => printDifference(each, options).join('\n'))
  return `${[summary(differences, options.ref), ...parts].join('\n\n')}\n`
}

function summary(differences: readonly Difference[], ref: string): string {
  const count = (effect: Effect) => differences.filter(each => each.effect === effect).length
  return `Since ${ref}: granted ${count('grants')} (+), perhaps granted ${count('may-grant')} (?), taken away ${count('takes')} (-).`
}

function printDifference(difference: Difference, options: DiffOptions): readonly string[] {
  const { effect } = difference
  const [first = '', ...rest] = wrap(differenceSentence(difference).split(' '), WIDTH - 2)
  return [
    options.paint(COLOURS[effect], `${MARKS[effect]} ${first}`),
    ...rest.map(line => options.paint(COLOURS[effect], `  ${line}`)),
    ...placesOf(difference, options).map(([label, location]) => `    ${label} ${shortLine(location)}`),
  ]
}

export function differenceSentence({ effect, holder, subject, actions, what }: Difference): string {
  if (subject === '') return `${holder.kind} ${holder.key}: ${what}`
  const limits = what === '' ? '' : `: ${what}`
  return `${holder.kind} ${holder.key} ${VERBS[effect]} ${actions.join(', ')} ${subject}${limits}`
}

type Labelled = readonly [label: 'now' | 'was', place: SourceLocation]

/** The deciding lines of the new and the old version; only one of them for something added or removed. */
function placesOf({ was: old, now: here }: Difference, options: DiffOptions): readonly Labelled[] {
  const now = placeOf(here, options.placeAfter)
  const was = placeOf(old, options.placeBefore)
  return [...(now ? [['now', now] as const] : []), ...(was ? [['was', was] as const] : [])]
}

const placeOf = (path: Path | null, location: (path: Path) => SourceLocation): SourceLocation | null =>
  path && location(path)

function shortLine(location: SourceLocation): string {
  const line = `${printLocation(location)} | ${location.source.trim()}`
  return line.length > WIDTH - 8 ? `${line.slice(0, WIDTH - 9)}…` : line
}

/** One line: `{ since, differences: [{ effect, kind, key, subject, actions, what, now, was }] }`. */
function printDiffJson(differences: readonly Difference[], options: DiffOptions): string {
  const printed = differences.map(difference => ({
    effect: difference.effect,
    ...difference.holder,
    subject: difference.subject,
    actions: difference.actions,
    what: difference.what,
    ...Object.fromEntries(
      placesOf(difference, options).map(([label, location]) => [label, locationJson(location)]),
    ),
  }))
  return `${JSON.stringify({ since: options.ref, differences: printed })}\n`
}

/** The project's files at a commit, in a temporary folder. */
export interface ProjectAtRef {
  /** The folder of project.yaml inside it. */
  readonly folder: string
  /** The root of the repository inside it. */
  readonly top: string
  remove(): Promise<void>
}

/**
 * Writes the files of a commit whose path `wanted` matches to a temporary folder. Default: all YAML and JSON files, any of
 * which may be included.
 */
export async function checkOut(
  ref: string,
  folder: string,
  wanted: RegExp = YAML,
): Promise<Result<ProjectAtRef, string>> {
  const top = await git(folder, ['rev-parse', '--show-toplevel'])
  if (!top.ok) return failed(`${resolve(folder)} is in no git repository: ${top.reasons.join(' ')}`)
  const tree = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{tree}`])
  if (!tree.ok) return failed(await unknownRef(ref, folder))
  const temporary = await temporaryFolder('plinth-roles')
  const remove = () => rm(temporary, { recursive: true, force: true })
  const written = await writeTree({ tree: tree.value.trim(), top: top.value.trim(), to: temporary, wanted })
  const inside = relative(top.value.trim(), await realpath(folder))
  if (written.ok)
    return ok({ folder: join(temporary, 'files', inside), top: join(temporary, 'files'), remove })
  await remove()
  return failed(`git cannot write the files of ${ref}: ${written.reasons.join(' ')}`)
}

interface TreeOptions {
  readonly tree: string
  /** The root of the repository. */
  readonly top: string
  readonly to: string
  readonly wanted: RegExp
}

/** Uses a separate index, so that the repository's index and working tree stay unchanged. */
async function writeTree({ tree, top, to, wanted }: TreeOptions): Promise<Result<string, string>> {
  const env = { GIT_INDEX_FILE: join(to, 'index'), GIT_LFS_SKIP_SMUDGE: '1' }
  const read = await git(top, ['read-tree', tree], { env })
  const listed = await git(top, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree])
  if (!read.ok || !listed.ok) return read.ok ? listed : read
  const input = listed.value
    .split('\0')
    .filter(path => wanted.test(path))
    .join('\0')
  return git(top, ['checkout-index', '-z', '--stdin', `--prefix=${join(to, 'files')}/`], { env, input })
}

/** JSON is a subset of YAML. */
const YAML = /\.(ya?ml|json)$/i

async function unknownRef(ref: string, folder: string): Promise<string> {
  const known = await git(folder, ['for-each-ref', '--format=%(refname:short)'])
  const near = known.ok ? didYouMean(ref, known.value.split('\n').filter(Boolean)) : ''
  return `git knows no commit \`${ref}\`${near}`
}

interface GitOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** The output of git. Fails with its error output, or with the reason why git could not be started. */
const git = (
  folder: string,
  words: readonly string[],
  { env = {}, input = '' }: GitOptions = {},
): Promise<Result<string, string>> =>
  new Promise(done => {
    const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 2 ** 28 }
    const child = execFile('git', [...words], options, (error, stdout, stderr) =>
      done(error ? failed(stderr.trim() || error.message) : ok(stdout)),
    )
    // If git ends before it has read its input, the exit code reports the failure.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
