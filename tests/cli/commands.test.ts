import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'

const EXAMPLE = join(import.meta.dirname, 'example')

/** The result of a command line in its own process, in the folder of the project. */
function plinth(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...PLINTH, ...words], {
    cwd: EXAMPLE,
    encoding: 'utf8',
    timeout: 90_000,
  })
  return { code: status, out: stdout, complaint: stderr }
}

test('plinth roles accepts the folder together with repeated options', t => {
  const { code, out } = plinth('roles', '--role', 'public', '--role', 'editor', EXAMPLE, '--type', 'dish')
  t.is(code, 0)
  t.deepEqual(out.match(/^role \w+/gm), ['role public', 'role editor'])
  t.false(out.includes('cuisine'))
})

test('an option after "explain" belongs to explain, and unknown words exit with 2', t => {
  const { code, out } = plinth('roles', 'explain', 'public', 'create', 'dish', '--json')
  t.is(code, 0)
  t.is(JSON.parse(out).allowed, false)
  const unknown = plinth('roles', 'explain', 'public', 'crate', 'dish')
  t.is(unknown.code, 2)
  t.regex(unknown.complaint, /did you mean `create`\?/)
})

test('diff exits with 1 for a commit that git does not know', t => {
  const { code, complaint } = plinth('roles', 'diff', 'no-such-commit', '--json')
  t.is(code, 1)
  t.regex(complaint, /`no-such-commit`|git repository/)
})

if (process.platform === 'linux') {
  test('an output or a file without room is exit code 1 with the reason', t => {
    const full = openSync('/dev/full', 'w')
    t.teardown(() => closeSync(full))
    const { status, stderr } = spawnSync(process.execPath, [...PLINTH, 'roles', EXAMPLE], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    t.is(status, 1)
    t.regex(stderr, /^The output could not be written: ENOSPC/m)
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    const client = [...PLINTH, 'client', EXAMPLE, '--out', join(folder.path, 'client.ts')]
    const limited = spawnSync('sh', ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, ...client], {
      encoding: 'utf8',
    })
    t.is(limited.status, 1)
    t.regex(limited.stderr, /^A file or folder cannot be used: EFBIG[^\n]*\n$/m)
  })
}
