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
