import { execFileSync } from 'node:child_process'
import test, { type ExecutionContext } from 'ava'
import { type ReviewTerms, runReview } from '../../tools/cli/review/review.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { run } from './run.ts'

// `plinth review`: what a change since a commit does to data, permissions and clients.

const BEFORE = `name: Shop
components:
  shop.size: { attributes: { label: string } }
  shop.colour: { attributes: { label: string } }
contentTypes:
  book:
    attributes:
      title: { type: string, maxLength: 200 }
      text: text
      kind: { type: enumeration, enum: [novel, poem, essay] }
      pages: integer
      code: string
      author: { type: relation, relation: manyToOne, target: person }
      parts: { type: dynamiczone, components: [shop.size, shop.colour] }
  person: { attributes: { name: string } }
  old: { attributes: { name: string } }
roles: { public: { permissions: { book: [find] } } }
`
const AFTER = `name: Shop
rest: { maxLimit: 50 }
components:
  shop.size: { attributes: { label: string } }
  shop.colour: { attributes: { label: string } }
contentTypes:
  book:
    pluralApiId: volumes
    attributes:
      title: { type: string, maxLength: 100, required: true, backfill: none }
      body: { type: text, renamedFrom: text }
      kind: { type: enumeration, enum: [novel, poem, letter] }
      code: { type: string, private: true }
      author: { type: relation, relation: manyToMany, target: person }
      parts: { type: dynamiczone, components: [shop.size] }
      subtitle: string
  person: { attributes: { name: text, born: { type: date } } }
  fresh: { attributes: { name: string } }
roles: { public: { permissions: { book: [find, findOne, create] } } }
`

function repository(t: ExecutionContext, before: string) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder.path, stdio: 'pipe' })
  folder.write('project.yaml', before)
  git('init', '-q', '-b', 'main')
  git('config', 'user.email', 'ann@example.org')
  git('config', 'user.name', 'Ann')
  git('add', '.')
  git('commit', '-q', '-m', 'as it is')
  return folder
}

const review = (folder: string, format: ReviewTerms['format'] = 'json', ref = 'main') =>
  run(terms => runReview({ ...terms, format, usesDatabase: false }, ref), { folder })

interface Finding {
  readonly level: string
  readonly message: string
  readonly place: { readonly file: string; readonly line: number } | null
}

test('each change for data, permissions, REST and GraphQL has its level and its line', async t => {
  const folder = repository(t, BEFORE)
  folder.write('project.yaml', AFTER)
  const { code, out, complaint } = await review(folder.path)
  t.is(complaint, '')
  t.is(code, 2)
  const report: Record<string, Finding[]> = JSON.parse(out)
  const rest = (report.rest ?? []).map(
    ({ level, message, place }) => `${level}: ${message} ${place?.file}:${place?.line}`,
  )
  for (const expected of [
    'risky: lists have at most 50 documents instead of 100 project.yaml:2',
    'breaking: the address /books becomes /volumes project.yaml:7',
    'breaking: `title` of `book` is required: writes without it are refused project.yaml:10',
    'risky: `title` of `book` has `maxLength` 100: writes beyond it are refused project.yaml:10',
    'breaking: `text` of `book` is called `body` project.yaml:11',
    'breaking: `kind` of `book` has no value essay any more project.yaml:12',
    'risky: `kind` of `book` may be letter, which clients do not know project.yaml:12',
    'breaking: `pages` of `book` is gone main:project.yaml:11',
    'breaking: `code` of `book` is private: no answer has it, no filter may use it project.yaml:13',
    'breaking: `author` of `book` is a list now project.yaml:14',
    'breaking: `parts` of `book` does not take shop.colour any more project.yaml:15',
    'safe: `subtitle` of `book` is new project.yaml:16',
    'safe: `name` of `person` is `text` instead of `string` project.yaml:17',
    'safe: `born` of `person` is new project.yaml:17',
    'breaking: `old` is gone main:project.yaml:16',
    'safe: `fresh` is new project.yaml:18',
  ])
    t.true(rest.includes(expected), `${expected}\n\n${rest.join('\n')}`)
  t.is(rest.length, 16)
  t.true(
    report.permissions?.some(({ level, message }) => level === 'risky' && /public may now/.test(message)),
  )
  t.true(
    report.graphql?.some(
      ({ level, message }) => level === 'breaking' && /Book\.pages was removed/.test(message),
    ),
  )
  t.deepEqual(
    report.graphql?.filter(({ place }) => !place).map(({ message }) => message),
    [],
  )
  const removed = report.graphql?.find(({ message }) => /Book\.text was removed/.test(message))
  t.is(removed?.place?.line, 11, 'a renamed attribute is shown where it is declared now')
  t.true(report.data?.some(({ level }) => level === 'breaking'))
  t.true(report.data?.some(({ level, message }) => level === 'safe' && /"subtitle"/.test(message)))
  t.is(report.types?.length, 1)
})

test('a safe change ends with 0, an unchanged project has nothing to report', async t => {
  const folder = repository(t, BEFORE)
  const same = await review(folder.path, 'text')
  t.is(same.out, 'Since main, nothing has changed for data, permissions and clients.\n')
  t.is(same.code, 0)
  folder.write(
    'project.yaml',
    BEFORE.replace('name: string } }\n  old', 'name: string, born: date } }\n  old'),
  )
  const { code, out } = await review(folder.path, 'markdown')
  t.is(code, 0, out)
  t.regex(out, /^## Plinth review\n\nSince main: 0 breaking, 0 risky, \d+ safe\.\n/)
  t.regex(out, /\n### REST\n\n- 🟢 \*\*safe\*\*: `born` of `person` is new \(`project\.yaml:15:41`\)\n/)
})

test('what cannot be compared is refused with the reason', async t => {
  const folder = repository(t, BEFORE)
  t.regex(
    (await review(folder.path, 'text', 'mian')).complaint,
    /git knows no commit `mian`: did you mean `main`/,
  )
  folder.write('project.yaml', 'name: Shop\ncontentTypes: { a: { atributes: {} } }\n')
  const { code, complaint } = await review(folder.path)
  t.is(code, 1)
  t.regex(complaint, /unknown key `atributes`/)
})
