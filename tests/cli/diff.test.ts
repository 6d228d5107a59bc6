import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runDiff } from '../../tools/cli/roles/roles-diff.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { golden, type RunOptions, run } from './run.ts'

const diff = (ref: string, options: RunOptions) => run(options => runDiff(options, ref), options)

const TYPES = `
name: Diff
contentTypes:
  team: { attributes: { name: string } }
  note:
    draftAndPublish: true
    attributes:
      title: string
      body: text
      secret: { type: string, private: true }
      owner: { type: relation, relation: manyToOne, target: user }
`
const BEFORE = `${TYPES}
roles:
  public:
    permissions:
      note: { find: { fields: [title] } }
  member:
    permissions:
      note:
        find: { where: { owner: { id: $user.id } } }
        create: { set: { owner: $user.id } }
        update: { where: { owner: { id: $user.id } } }
        delete: true
      team: [find]
`
const AFTER = `${TYPES.replace(', private: true', '')}
roles:
  public:
    permissions:
      note: { find: { fields: [title, body] } }
      team: [find, findOne]
  member:
    permissions:
      note:
        find: true
        create: true
        update: { where: { title: { $eq: open } } }
      team: { find: { where: { name: { $notNull: true } } } }
`

test('grants are printed first, then possible grants, then removals, each with its lines', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE })
  folder.write('project.yaml', AFTER)
  const { code, out, complaint } = await diff('HEAD', { folder: folder.path })
  t.is(complaint, '')
  t.is(out, golden('diff.txt', out))
  t.is(code, 2)
  const marks = [...out.matchAll(/^[+?-] /gm)].map(([mark]) => mark.trim()).join('')
  t.regex(marks, /^\+{5,}\?+-+$/)
  t.true(out.split('\n').every(line => line.length <= 100))
})

test('the differences are printed as JSON', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE })
  folder.write('project.yaml', AFTER)
  const { out: json } = await diff('HEAD', { folder: folder.path, form: 'json' })
  t.is(json, golden('diff.json.txt', json))
  t.is(json.trimEnd().split('\n').length, 1)
})

test('comparing in reverse turns removals into grants and grants into removals', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE })
  folder.write('project.yaml', AFTER)
  const reported = async () => {
    const { out } = await diff('HEAD', { folder: folder.path, form: 'json' })
    const { differences } = JSON.parse(out) as { differences: Record<string, unknown>[] }
    return differences.map(({ effect, kind, key, subject, actions }) =>
      [effect, kind, key, subject, actions].join(' '),
    )
  }
  const there = await reported()
  commit(folder.path)
  folder.write('project.yaml', BEFORE)
  const back = await reported()
  const opposite = (line: string) =>
    line.startsWith('grants') ? line.replace('grants', 'takes') : line.replace('takes', 'grants')
  t.deepEqual(back.toSorted(), there.map(opposite).toSorted())
})

test('the exit code is 0 if nothing is granted: no change, or only removals', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE })
  const same = await diff('HEAD', { folder: folder.path })
  t.is(same.code, 0)
  t.is(same.out, 'Since HEAD, nothing that anybody may do has changed.\n')
  folder.write('project.yaml', BEFORE.replace('        delete: true\n', ''))
  const less = await diff('HEAD', { folder: folder.path })
  t.is(less.code, 0)
  t.regex(less.out, /\n- role member may no longer delete note\n/)
})

test('added and removed roles, tokens and types are printed as all of their permissions', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE })
  const more = `${BEFORE}
  chief: { permissions: { "*": [find] } }
apiTokens: { feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { team: [findOne] } } }
`.replace('  team: {', '  place: { attributes: { name: string } }\n  team: {')
  folder.write('project.yaml', more)
  const { out } = await diff('HEAD', { folder: folder.path })
  for (const line of [
    '+ role chief may now find place',
    '+ role chief may now find note',
    '+ token feed may now findOne team',
  ])
    t.true(out.split('\n').includes(line), line)
  t.false(out.includes('feed-feed'))
  commit(folder.path)
  folder.write('project.yaml', BEFORE)
  const { out: gone, code } = await diff('HEAD', { folder: folder.path })
  t.is(code, 0)
  t.true(gone.includes('- role chief may no longer find place\n'))
})

test('a route opened to everybody and a removed policy are reported as grants', async t => {
  const route = (said: string) => `${BEFORE}routesConfig:\n  note.find: ${said}\n`
  const folder = repository(t, { 'project.yaml': route('{ policies: [by-day] }') })
  folder.write('project.yaml', route('{ auth: false }'))
  const { code, out } = await diff('HEAD', { folder: folder.path })
  t.is(code, 2)
  t.regex(
    out,
    /\+ route note\.find: open to everybody, no longer for who has its own permission\n {4}now project/,
  )
  t.true(out.includes('+ route note.find: the policies by-day decide no longer\n'))
  commit(folder.path)
  folder.write('project.yaml', route('{ auth: { scope: [api::team.team.find] } }'))
  const less = await diff('HEAD', { folder: folder.path })
  t.is(less.code, 0)
  t.true(
    less.out.includes('- route note.find: for who has api::team.team.find, no longer open to everybody\n'),
  )
  folder.write('project.yaml', BEFORE)
  t.is((await diff('HEAD', { folder: folder.path })).code, 0)
})

test('included files are compared too, also outside of the project folder', async t => {
  const folder = repository(t, {
    'site/project.yaml': `include: [../shared/*.yaml]\n${TYPES}`,
    'shared/roles.yaml': 'roles: { public: { permissions: { team: [find] } } }\n',
  })
  folder.write('shared/roles.yaml', 'roles: { public: { permissions: { team: [find, findOne] } } }\n')
  const { code, out } = await diff('HEAD', { folder: join(folder.path, 'site') })
  t.is(code, 2)
  t.regex(out, /\+ role public may now findOne team\n {4}now .*shared\/roles\.yaml:1:\d+ /)
  t.regex(out, /was HEAD:\.\.\/shared\/roles\.yaml:1:\d+ /)
})

test('diff uses the current environment and leaves the repository unchanged', async t => {
  const withVariable = BEFORE.replace('title: string', 'title: { type: string, maxLength: "${LENGTH}" }')
  const folder = repository(t, { 'project.yaml': withVariable })
  folder.write('project.yaml', withVariable.replace('      team: [find]\n', ''))
  folder.write('.env', 'LENGTH=12\n')
  const before = git(folder.path, 'status', '--porcelain')
  const { code, complaint, out } = await diff('HEAD', { folder: folder.path })
  t.is(complaint, '')
  t.is(code, 0)
  t.true(out.includes('- role member may no longer find team\n'))
  t.is(git(folder.path, 'status', '--porcelain'), before)
})

test('an invalid or missing project of a commit, an unknown commit and a folder without git are clear errors', async t => {
  const folder = repository(t, { 'project.yaml': BEFORE.replace('team: [find]', 'teem: [find]') })
  folder.write('project.yaml', BEFORE)
  const broken = await diff('HEAD', { folder: folder.path })
  t.is(broken.code, 1)
  t.regex(broken.complaint, /^The project of HEAD has faults/)
  t.regex(broken.complaint, /HEAD:project\.yaml:\d+:\d+ unknown subject `teem`: did you mean `team`\?/)
  const unknown = await diff('mian', { folder: folder.path })
  t.is(unknown.code, 1)
  t.is(unknown.complaint, 'git knows no commit `mian`: did you mean `main`?\n')
  t.is((await diff('--output=/tmp/x', { folder: folder.path })).code, 1)
  folder.write('elsewhere/project.yaml', BEFORE)
  const missing = await diff('HEAD', { folder: join(folder.path, 'elsewhere') })
  t.is(missing.complaint, 'HEAD has no project.yaml in this folder\n')
  const plain = temporaryFolder()
  t.teardown(() => plain.remove())
  plain.write('project.yaml', BEFORE)
  t.regex((await diff('HEAD', { folder: plain.path })).complaint, /is in no git repository/)
})

function git(folder: string, ...words: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  })
}

function commit(folder: string): void {
  git(folder, 'add', '.')
  git(folder, 'commit', '-q', '-m', 'as it is')
}

/** A repository on `main` with one commit of these files. */
function repository(t: ExecutionContext, files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  for (const [name, text] of Object.entries(files)) folder.write(name, text)
  git(folder.path, 'init', '-q', '-b', 'main')
  commit(folder.path)
  return folder
}

test.after.always('no temporary folder is left', t => {
  const left = readdirSync(tmpdir()).filter(name => name.startsWith(`plinth-roles-${process.pid}-`))
  t.deepEqual(left, [])
})
