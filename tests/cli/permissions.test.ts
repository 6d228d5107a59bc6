import test, { type ExecutionContext } from 'ava'
import { runPermissionTests } from '../../tools/cli/roles/permission-tests.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { run } from './run.ts'

// `plinth test`: tests/permissions.yaml of a project.

const PROJECT = `
name: Tested
contentTypes:
  note:
    draftAndPublish: true
    attributes:
      title: string
      code: { type: string, private: true }
      owner: { type: relation, relation: manyToOne, target: user }
  page: { kind: single, attributes: { heading: string } }
roles:
  public: { permissions: { note: [find, findOne], page: [find] } }
  authenticated:
    permissions:
      note:
        find: { where: { owner: { id: $user.id } } }
        create: { set: { owner: $user.id } }
      users: [me]
apiTokens:
  website: { type: custom, hash: "sha256:${'0'.repeat(64)}", permissions: { note: [find] } }
  all: { type: full-access, hash: "sha256:${'1'.repeat(64)}" }
`
const NOTES = `
- { documentId: first, title: First, code: x, status: published }
- { documentId: hidden, title: Hidden, status: draft }
`

function check(t: ExecutionContext, permissions: string | null, json = false) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('content/notes.yaml', NOTES)
  folder.write('content/page.yaml', '- { heading: Hello }')
  if (permissions !== null) folder.write('tests/permissions.yaml', permissions)
  return run(options => runPermissionTests({ ...options, json }), { folder: folder.path })
}

test('expectations that hold are counted', async t => {
  const { code, out, complaint } = await check(
    t,
    `
- as: public
  may: [note.find, GET /api/notes, "GET /api/notes/first", "POST /graphql"]
  not: [note.create, "POST /api/notes", "GET /api/users/me", "GET /api/notes?status=draft", note.readDrafts]
  sees: [note, note/first, note.title, page.heading]
  never: [note/hidden, note.code, users]
- as: authenticated
  may: ["GET /api/users/me", { request: "POST /api/notes", body: { data: { title: Mine } } }]
  sees: note.title
  never: note/first
- as: { role: authenticated, username: Eve }
  never: [note.title, note]
`,
  )
  t.is(complaint, '')
  t.is(out, '22 of 22 expectations hold\n')
  t.is(code, 0)
})

test('expectations that do not hold are reported with their line and what the server did', async t => {
  const wrong = `
- as: public
  may: [note.create, "DELETE /api/notes/first"]
  not: [note.find, "GET /api/notes"]
  sees: [note/hidden, note.code]
  never: [note/first, page]
`
  const { code, out } = await check(t, wrong)
  t.is(code, 2)
  t.deepEqual(out.split('\n').slice(0, -1), [
    '✘ tests/permissions.yaml:3:9  public may note.create: not granted (project.yaml:12:13)',
    '✘ tests/permissions.yaml:3:22  public may DELETE /api/notes/first: the server answers 403 Forbidden',
    '✘ tests/permissions.yaml:4:9  public may not note.find: granted (project.yaml:12:35)',
    '✘ tests/permissions.yaml:4:20  public may not GET /api/notes: the server answers 200',
    '✘ tests/permissions.yaml:5:10  public sees note/hidden: nothing of it is answered',
    '✘ tests/permissions.yaml:5:23  public sees note.code: nothing of it is answered',
    '✘ tests/permissions.yaml:6:11  public never sees note/first: first is answered',
    `✘ tests/permissions.yaml:6:23  public never sees page: ${/page: (\S+) is answered/.exec(out)?.[1]} is answered`,
    '0 of 8 expectations hold',
  ])
  const report = JSON.parse((await check(t, wrong, true)).out)
  t.is(report.expectations, 8)
  t.like(report.unmet[0], {
    as: 'public',
    kind: 'may',
    what: 'note.create',
    location: { line: 3, column: 9 },
  })
})

test('faults of the file are reported with their place and the nearest name, before anything starts', async t => {
  const { code, complaint } = await check(
    t,
    `
- as: publik
- as: public
  mey: [note.find]
  may: [note.fnd, nte.find, GET api/notes, 5, { request: GET /api/notes, boddy: {} }]
  sees: [note.titel, nte]
- as: { role: 7 }
- text
`,
  )
  t.is(code, 1)
  const faults = complaint.split('\n').filter(line => line.startsWith('tests/'))
  for (const [at, reason] of [
    ['2:7', /unknown role `publik`.*`public`/],
    ['4:8', /unknown key `mey`: did you mean `may`/],
    ['5:9', /unknown action of `note` `fnd`/],
    ['5:19', /unknown type `nte`/],
    ['5:29', /is neither `<type>\.<action>` nor a request/],
    ['5:44', /expected a text, or a mapping/],
    ['5:47', /expected a text, or a mapping/],
    ['6:10', /unknown attribute of `note` `titel`.*`title`/],
    ['6:22', /unknown type `nte`/],
    ['7:7', /`as` is a role, or a mapping with `role`/],
    ['8:3', /expected a mapping with `as`/],
  ] as const) {
    const line = faults.find(fault => fault.startsWith(`tests/permissions.yaml:${at} `))
    t.regex(line ?? faults.join('\n'), reason, at)
  }
  t.is(faults.length, 11)
  t.regex((await check(t, 'a: b')).complaint, /expected a list of entries/)
  t.regex((await check(t, null)).complaint, /tests\/permissions\.yaml.*there is no such file/s)
})

test('API tokens that are declared with a hash only are tested by their name', async t => {
  const { code, out, complaint } = await check(
    t,
    `
- as: { token: website }
  may: [note.find, GET /api/notes]
  not: [note.create, "GET /api/notes/first", "POST /api/notes", "GET /api/page"]
  sees: note.title
  never: [note.code, page]
- as: { token: all }
  may: { request: POST /api/notes, body: { data: { title: Made } } }
  sees: page.heading
`,
  )
  t.is(complaint, '')
  t.is(out, '11 of 11 expectations hold\n')
  t.is(code, 0)
  const wrong = await check(t, '- as: { token: website }\n  may: note.delete\n')
  t.regex(wrong.out, /✘ tests\/permissions\.yaml:2:8 {2}token website may note\.delete: not granted/)
  const faulty = await check(
    t,
    '- as: { token: web }\n- as: { token: all, role: public }\n- as: { token: 5 }\n',
  )
  t.is(faulty.code, 1)
  t.regex(faulty.complaint, /unknown API token `web`.*`website`/)
  t.regex(faulty.complaint, /an API token has neither a role nor attributes of a user/)
  t.regex(faulty.complaint, /`as` is a role, or a mapping with `role` or `token`/)
})

test('sees and never look at every page of a list', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', `${PROJECT}rest: { maxLimit: 40 }\n`)
  const many = Array.from({ length: 90 }, (_, index) => `- { documentId: d${index}, status: published }\n`)
  folder.write('content/notes.yaml', `${many.join('')}- { documentId: last, title: x, status: published }\n`)
  // Code of the project decides on each document what it shows.
  folder.write(
    'extensions/hide.ts',
    `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents }) {
    documents.use(async (context, next) => {
      const found = await next()
      for (const note of Array.isArray(found) ? found : []) if (note.title === null) delete note.title
      return found
    })
  },
})
`,
  )
  folder.write('tests/permissions.yaml', '- as: public\n  never: note.title\n')
  const { out } = await run(options => runPermissionTests({ ...options, json: false }), {
    folder: folder.path,
  })
  t.regex(out, /never sees note\.title: last is answered\n0 of 1 expectations hold/)
})
