import { rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { openSite } from './site.ts'

const PROJECT = 'contentTypes:\n  note: { attributes: { name: string } }\n'

test('entries whose file changed after they were written are counted by file, and not updated', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/notes.yaml': '[{ documentId: a, name: A }, { documentId: b, name: B }]',
  })
  await site.must()
  t.deepEqual(site.kept(), {})
  const edited = '[{ documentId: a, name: A2 }, { documentId: b, name: B }, { documentId: c, name: C }]'
  t.deepEqual(await site.must({ 'content/notes.yaml': edited }), { 'api::note.note': 1 })
  t.deepEqual(site.kept(), { 'content/notes.yaml': 1 })
  t.is((await site.get('notes/a')).name, 'A')
  await site.must()
  t.deepEqual(site.kept(), { 'content/notes.yaml': 1 })
  await site.must({ 'content/notes.yaml': `on: sync\ndocuments: ${edited}` })
  t.deepEqual(site.kept(), {})
  t.is((await site.get('notes/a')).name, 'A2')
})

test('drafts and locales that a type gains or loses edit none of its entries', async t => {
  const types = (flags: string) => `i18n: { locales: [en, fr], defaultLocale: en }
contentTypes:
  author: { attributes: { name: string } }
  note: { ${flags} attributes: { name: string, author: { type: relation, relation: manyToOne, target: author } } }
  tag: { ${flags} attributes: { name: string } }
`
  const site = await openSite(t, {
    'project.yaml': types(''),
    'content/authors.yaml': '[{ documentId: ann, name: Ann }]',
    'content/notes.yaml': '[{ documentId: a, name: A, author: ann }, { documentId: b, name: B }]',
    'content/tags.yaml': 'on: sync\ndocuments: [{ documentId: t, name: T }]',
  })
  await site.must()
  for (const flags of [
    'draftAndPublish: true,',
    'draftAndPublish: true, localized: true,',
    'localized: true,',
    '',
  ]) {
    t.deepEqual(await site.must({ 'project.yaml': types(flags) }), {}, flags)
    t.deepEqual(site.kept(), {}, flags)
  }
  await site.must({
    'content/notes.yaml': '[{ documentId: a, name: A2, author: ann }, { documentId: b, name: B }]',
  })
  t.deepEqual(site.kept(), { 'content/notes.yaml': 1 })
})

/** Projects in which `note` has other names, and its file of content/ with the same values. */
const RENAMES = {
  'its type': ['memo: { renamedFrom: note, attributes: { name: string, code: string } }', 'memos', 'name'],
  'its first text': [
    'note: { attributes: { title: { type: string, renamedFrom: name }, code: string } }',
    'notes',
    'title',
  ],
  'another attribute, which identifies it from then on': [
    'note: { attributes: { name: string, code: { type: string, unique: true } } }',
    'notes',
    'name',
  ],
} as const

for (const [what, [type, plural, name]] of Object.entries(RENAMES))
  test(`an entry without a documentId is the same document after a change of ${what}`, async t => {
    const entries = (key: string) =>
      `[{ ${key}: A, code: a }, { ${key}: B, code: b }, { ${key}: C, code: c }]`
    const site = await openSite(t, {
      'project.yaml': 'contentTypes:\n  note: { attributes: { name: string, code: string } }\n',
      'content/notes.yaml': entries('name'),
    })
    await site.must()
    await site.rows(`DELETE FROM notes WHERE name = 'A'`)
    await site.rows(`UPDATE notes SET name = 'edited' WHERE name = 'B'`)
    rmSync(join(site.folder.path, 'content', 'notes.yaml'))
    t.deepEqual(
      await site.must({
        'project.yaml': `contentTypes:\n  ${type}\n`,
        [`content/${plural}.yaml`]: entries(name),
      }),
      {},
    )
    t.deepEqual(site.kept(), {})
    const settled = type.replace(/,? ?renamedFrom: \w+,?/, '')
    for (const mode of ['create', 'sync'])
      t.deepEqual(
        await site.must({
          'project.yaml': `contentTypes:\n  ${settled}\n`,
          [`content/${plural}.yaml`]: `{ on: ${mode}, documents: ${entries(name)} }`,
        }),
        {},
      )
    t.deepEqual(await site.rows(`SELECT ${name} FROM ${plural} ORDER BY id`), [['edited'], ['C']])
  })

test('renamed attributes and components edit none of the entries of a file with `on: sync`', async t => {
  const project = (part: string, label: string) => `
components:
  part.${part}
contentTypes:
  note: { attributes: { ${label}, part: { type: component, component: part.${part.split(':')[0]} } } }
`
  const file = (key: string) => `on: sync\ndocuments: [{ documentId: a, ${key}: A, part: { label: x } }]`
  const site = await openSite(t, {
    'project.yaml': project('one: { attributes: { label: string } }', 'name: string'),
    'content/notes.yaml': file('name'),
  })
  await site.must()
  await site.rows(`UPDATE notes SET name = 'edited'`)
  for (const [part, label] of [
    [
      'two: { renamedFrom: part.one, attributes: { label: string } }',
      'title: { type: string, renamedFrom: name }',
    ],
    ['two: { attributes: { label: string } }', 'title: string'],
  ] as const)
    t.deepEqual(
      await site.must({ 'project.yaml': project(part, label), 'content/notes.yaml': file('title') }),
      {},
    )
  t.deepEqual(await site.rows('SELECT title FROM notes'), [['edited']])
})

test('other types of attributes edit none of the entries of a file with `on: sync`', async t => {
  const project = (size: string, day: string) =>
    `contentTypes:\n  note: { attributes: { name: string, size: ${size}, day: ${day} } }\n`
  const file = (text: (size: number) => string) => `on: sync
documents:
  - { documentId: a, name: A, size: ${text(50)}, day: 2026-05-06 }
  - { documentId: b, name: B, size: ${text(0)}, day: 2026-05-07 }`
  const site = await openSite(t, {
    'project.yaml': project('integer', 'date'),
    'content/notes.yaml': file(String),
  })
  await site.must()
  await site.rows(`UPDATE notes SET name = 'edited'`)
  for (const [size, day] of [
    ['decimal', 'datetime'],
    ['float', 'datetime'],
    ['biginteger', 'datetime'],
    ['string', 'datetime'],
    ['text', 'string'],
  ] as const) {
    const text = size === 'string' || size === 'text' ? JSON.stringify : String
    const changed = {
      'project.yaml': project(size, day),
      'content/notes.yaml': file(number => text(String(number))),
    }
    t.deepEqual(await site.must(changed), {}, size)
  }
  t.deepEqual(await site.rows('SELECT name FROM notes'), [['edited'], ['edited']])
  await site.must({
    'content/notes.yaml':
      'on: sync\ndocuments: [{ documentId: a, name: A, size: "5", day: 2026-05-06 }, { documentId: b, name: B }]',
  })
  t.deepEqual(await site.rows('SELECT name, size FROM notes ORDER BY document_id'), [
    ['A', '5'],
    ['B', '0'],
  ])
})
