import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { didYouMean } from '../../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'

/** The project's files at a commit, in a temporary folder. */
export interface ProjectAtRef {
  /** The folder of project.yaml inside it. */
  readonly folder: string
  /** The root of the repository inside it. */
  readonly top: string
  remove(): Promise<void>
}

/** Writes all YAML and JSON files of a commit to a temporary folder: any of them may be included. */
export async function checkOut(ref: string, folder: string): Promise<Result<ProjectAtRef, string>> {
  const top = await git(folder, ['rev-parse', '--show-toplevel'])
  if (!top.ok) return failed(`${resolve(folder)} is in no git repository: ${top.reasons.join(' ')}`)
  const tree = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{tree}`])
  if (!tree.ok) return failed(await unknownRef(ref, folder))
  const temporary = await mkdtemp(join(tmpdir(), `plinth-roles-${process.pid}-`))
  const remove = () => rm(temporary, { recursive: true, force: true })
  const written = await writeTree(tree.value.trim(), top.value.trim(), temporary)
  const inside = relative(top.value.trim(), await realpath(folder))
  if (written.ok)
    return ok({ folder: join(temporary, 'files', inside), top: join(temporary, 'files'), remove })
  await remove()
  return failed(`git cannot write the files of ${ref}: ${written.reasons.join(' ')}`)
}

/** Uses a separate index, so that the repository's index and working tree stay unchanged. */
async function writeTree(tree: string, top: string, to: string): Promise<Result<string, string>> {
  const env = { GIT_INDEX_FILE: join(to, 'index'), GIT_LFS_SKIP_SMUDGE: '1' }
  const read = await git(top, ['read-tree', tree], { env })
  const listed = await git(top, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree])
  if (!read.ok || !listed.ok) return read.ok ? listed : read
  const input = listed.value
    .split('\0')
    .filter(path => YAML.test(path))
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

interface GitTerms {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** The output of git. Fails with its error output, or with the reason why git could not be started. */
const git = (
  folder: string,
  words: readonly string[],
  { env = {}, input = '' }: GitTerms = {},
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
