import { join, relative } from 'node:path'
import test from 'ava'
import { checkApp } from '../../core/app/check-app.ts'
import { failed } from '../../core/base/result.ts'
import { type CheckContext, type Checker, runCheck } from '../../tools/cli/check.ts'
import { temporaryFolder } from '../harness/folder.ts'

async function check(text: string, { json = false, ...more }: Partial<CheckContext> = {}) {
  const folder = temporaryFolder()
  folder.write('project.yaml', text)
  const written: string[] = []
  const write = (part: string) => written.push(part)
  const code = await runCheck({ folder: folder.path, json, env: {}, write, ...more })
  folder.remove()
  return { code, text: written.join('').replaceAll(relative(process.cwd(), folder.path), 'FOLDER') }
}

test('plinth check summarises a valid project and exits with 0', async t => {
  const written: string[] = []
  const folder = join(import.meta.dirname, '../conformance/project')
  t.is(await runCheck({ folder, json: false, env: {}, write: part => written.push(part) }), 0)
  t.deepEqual(written, ['The project is in order: 9 content-types, 4 components, 3 roles.\n'])
})

test('plinth check shows the invalid line with a caret, counts the errors and exits with 1', async t => {
  t.deepEqual(await check('name: A\nserver:\n  prot: 1\n'), {
    code: 1,
    text: `FOLDER/project.yaml:3:3 unknown key \`prot\`: did you mean \`port\`? (server.prot)
  3 |   prot: 1
        ^

1 fault
`,
  })
})

test('plinth check reports the errors of the file and of the model together', async t => {
  const { text } = await check(`name: A
server: { prot: 1 }
contentTypes: { article: { attributes: { author: { type: relation, relation: oneToOne, target: autor } } } }
`)
  t.regex(text, /unknown key `prot`/)
  t.regex(text, /unknown target `autor`/)
  t.regex(text, /\n2 faults\n$/)
})

test('a default that its attribute refuses is reported once', async t => {
  const yaml = `name: A
contentTypes: { article: { attributes: { size: { type: integer, max: 5, default: 9 } } } }
`
  const { text } = await check(yaml, { checkers: [checkApp({})] })
  t.regex(text, /the `default` must be less than or equal to 5/)
  t.regex(text, /\n1 fault\n$/)
})

test('a misspelled key or value of a search is named with its line', async t => {
  const search = (text: string) => `name: A
contentTypes:
  author:
    search: { attributes: { name: A }, ${text} }
    attributes: { name: string }
`
  t.regex(
    (await check(search('typo: true'))).text,
    /project\.yaml:4:40 unknown key `typo`: did you mean `typos`\?/,
  )
  t.regex((await check(search('typos: yes'))).text, /project\.yaml:4:47 .*typos/)
})

test('declarations with grammar errors are not checked as a model', async t => {
  const { text } = await check(`name: A
contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article, mapedBy: author } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articles } } }
`)
  t.regex(text, /unknown key `mapedBy`: did you mean `mappedBy`\?/)
  t.regex(text, /\n1 fault\n$/)
})

test('plinth check --json prints one line', async t => {
  const { code, text } = await check('name: A\nserver: { port: 1 }\nserver: {}\n', { json: true })
  t.is(code, 1)
  t.deepEqual(JSON.parse(text), {
    ok: false,
    faults: [
      {
        ...{
          code: 'duplicate-key',
          message: 'duplicate key `server`',
          file: 'project.yaml',
          line: 3,
          column: 1,
        },
        path: ['server'],
        related: { message: 'the first one is here', file: 'project.yaml', line: 2, column: 1 },
      },
    ],
  })
  t.deepEqual(JSON.parse((await check('name: A\n', { json: true })).text), { ok: true, faults: [] })
})

test('additional checks of a project report their errors too', async t => {
  const folder = join(import.meta.dirname, '../conformance/project')
  const refuse: Checker = project =>
    failed({
      code: 'permission',
      message: 'not like this',
      path: ['roles'],
      location: project.keyLocation(['roles']),
    })
  const written: string[] = []
  t.is(
    await runCheck({ folder, json: false, env: {}, write: part => written.push(part), checkers: [refuse] }),
    1,
  )
  t.regex(written.join(''), /^tests\/conformance\/project\/project\.yaml:\d+:1 not like this \(roles\)\n/)
})
