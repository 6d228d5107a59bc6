import test from 'ava'
import { runRoles } from '../../tools/cli/roles/roles.ts'
import type { RolesContext } from '../../tools/cli/roles/roles-output.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { golden, type RunOptions, run } from './run.ts'

const ALL = { roles: [], types: [] }

const roles = (narrowing: Partial<Parameters<typeof runRoles>[1]> = {}, options: RunOptions = {}) =>
  run((options: RolesContext) => runRoles(options, { ...ALL, ...narrowing }), options)

test('the permissions of the example project are printed as one table for each role', async t => {
  const { code, out } = await roles()
  t.is(out, golden('roles.txt', out))
  t.is(code, 0)
})

test('the permissions are printed as JSON', async t => {
  const { out: json } = await roles({ roles: ['public'], types: ['article'] }, { form: 'json' })
  t.is(json, golden('roles-public-article.json.txt', json))
  t.is(json.trimEnd().split('\n').length, 1)
})

test('JSON contains the position of the deciding line of each action', async t => {
  const { out } = await roles({ roles: ['editor'], types: ['critic'] }, { form: 'json' })
  const [editor] = JSON.parse(out).roles
  const find = editor.subjects[0].actions[0]
  t.is(find.action, 'find')
  t.true(find.location.source.includes('find: { fields: [name, bio] }'))
  t.deepEqual(find.through, ['editor', 'authenticated', 'public'])
  t.true(find.overrides.source.includes('"*"'), 'the permission on every type that the named one overrides')
})

test('an API token is printed if it is named', async t => {
  const { out } = await roles({ roles: ['website'] })
  t.true(out.startsWith('token website  project.yaml:'))
  t.false((await roles()).out.includes('token website'))
})

test('unknown roles and types are refused with the nearest word, all at once', async t => {
  const { code, out, complaint } = await roles({ roles: ['editr'], types: ['articel'] })
  t.is(code, 2)
  t.is(out, '')
  t.is(
    complaint,
    'unknown role `editr`: did you mean `editor`?\nunknown type `articel`: did you mean `article`?\n',
  )
})

test('an invalid project prints its errors, and nothing else', async t => {
  const folder = temporaryFolder()
  folder.write('project.yaml', 'name: X\nroles: { public: { permissions: { boook: [find] } } }\n')
  const { code, out, complaint } = await roles({}, { folder: folder.path })
  folder.remove()
  t.is(code, 1)
  t.is(out, '')
  t.regex(complaint, /^\S+\/project\.yaml:2:\d+ unknown subject `boook`/)
})

test('colours are used only on terminals without NO_COLOR', async t => {
  t.false((await roles()).out.includes('\u001B'))
  t.true((await roles({}, { terminal: true })).out.includes('\u001B['))
  t.false((await roles({}, { terminal: true, env: { NO_COLOR: '1' } })).out.includes('\u001B'))
})

test('a hundred types with long names, in included files, fit 100 columns', async t => {
  const folder = temporaryFolder()
  const names = Array.from({ length: 100 }, (_, index) => `a-rather-long-name-of-some-type-${index}`)
  const types = names.map(
    name => `  ${name}: { draftAndPublish: true, localized: true, attributes: { a: string } }`,
  )
  const own = names.map(name => `      ${name}: { find: { where: { a: x } }, update: true, delete: false }`)
  folder.write(
    'project.yaml',
    `name: X\ni18n: { locales: [en, fr] }\ninclude: [roles/*.yaml]\ncontentTypes:\n${types.join('\n')}\n`,
  )
  folder.write('roles/of-the-house.yaml', `roles:\n  reader:\n    permissions:\n${own.join('\n')}\n`)
  const { code, out, complaint } = await roles({}, { folder: folder.path })
  folder.remove()
  t.is(complaint, '')
  t.is(code, 0)
  t.deepEqual(
    out.split('\n').filter(line => line.length > 100),
    [],
  )
  t.regex(out, / f1:4\n/)
  t.true(out.endsWith('\nf1: roles/of-the-house.yaml\n'))
})
