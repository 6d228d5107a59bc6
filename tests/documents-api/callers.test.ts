import test from 'ava'
import { open, refusalOf } from './opened.ts'

test('actions on behalf of a caller are limited to the caller’s permissions', async t => {
  const { documents, caller } = await open(t)
  const { documentId } = await documents('book').create({ data: { title: 'Emma' }, status: 'published' })
  const reader = documents('book').as(caller('reader'))
  t.like(await reader.findOne({ documentId, status: 'published' }), { title: 'Emma' })
  const refused = [
    () => reader.create({ data: { title: 'x' } }),
    () => reader.update({ documentId, data: { title: 'x' } }),
    () => reader.delete({ documentId }),
    () => reader.publish({ documentId }),
    () => documents('vault').as(caller('reader')).findMany(),
  ]
  for (const action of refused) t.is(await refusalOf(action()), 'forbidden: Forbidden')
  t.like(await documents('book').findOne({ documentId }), { title: 'Emma' })
})

test('on behalf of a caller, private attributes are neither returned nor queried', async t => {
  const { documents, caller } = await open(t)
  await documents('book').create({ data: { title: 'Emma', secret: 'kept' }, status: 'published' })
  const reader = documents('book').as(caller('reader'))
  const [found] = await reader.findMany({ status: 'published' })
  t.false('secret' in (found ?? {}))
  t.regex(
    await refusalOf(reader.findMany({ status: 'published', filters: { secret: 'kept' } })),
    /Invalid key secret/,
  )
  t.regex(await refusalOf(reader.findMany({ status: 'published', fields: ['secret'] })), /Invalid key secret/)
})

test('on behalf of a caller, server-set values are set, and other owners’ rows stay unchanged', async t => {
  const { documents, caller } = await open(t)
  const dear = await documents('book').create({ data: { title: 'Dear', price: 100 } })
  const editor = documents('book').as(caller('editor'))
  t.regex(await refusalOf(editor.create({ data: { title: 'x', secret: 'y' } })), /Invalid key secret/)
  const { documentId } = dear
  const change = { data: { title: 'Cheap' }, status: 'draft' } as const
  // The update's condition hides drafts, too: the document is answered as one that does not exist.
  t.is(await editor.update({ documentId, ...change }), null)
  t.deepEqual(await editor.publish({ documentId }), { documentId, entries: [] })
  t.like(await documents('book').findOne({ documentId }), { title: 'Dear' })
  await documents('book').publish({ documentId })
  t.is(await refusalOf(editor.update({ documentId, ...change })), 'forbidden: Forbidden')
})

test('a status that a middleware sets requires the permission of the caller for it', async t => {
  const changed: Record<string, 'draft' | 'published'> = { findMany: 'draft', create: 'published' }
  const { documents, caller } = await open(t, [
    (context, next) => {
      const status = changed[context.action]
      if (status && context.params.status !== undefined) context.params.status = status
      return next()
    },
  ])
  const reader = documents('book').as(caller('reader'))
  const author = documents('book').as(caller('author'))
  t.is(await refusalOf(reader.findMany({ status: 'published' })), 'forbidden: Forbidden')
  t.is(await refusalOf(author.create({ data: { title: 'Emma' }, status: 'draft' })), 'forbidden: Forbidden')
  t.is(await documents('book').count(), 0)
  changed.findMany = 'published'
  // The caller's own status is checked as well, before the middleware runs.
  t.is(await refusalOf(reader.findMany({ status: 'draft' })), 'forbidden: Forbidden')
  const editor = documents('book').as(caller('editor'))
  await editor.create({ data: { title: 'Emma' }, status: 'draft' })
  t.is((await reader.findMany({ status: 'published' })).length, 1)
})

test('findOne takes the conditions of a list, within the caller’s permissions', async t => {
  const { documents, caller } = await open(t)
  const data = { title: 'Emma', price: 3, secret: 'kept' }
  const { documentId } = await documents('book').create({ data, status: 'published' })
  const books = documents('book')
  t.like(await books.findOne({ documentId, filters: { price: { $lt: 4 }, secret: 'kept' } }), { documentId })
  t.is(await books.findOne({ documentId, filters: { price: { $gt: 4 } } }), null)
  t.like(await books.findOne({ documentId, _q: 'emm' }), { documentId })
  t.is(await books.findOne({ documentId, _q: 'persuasion' }), null)
  t.is(await books.findOne({ documentId, publicationFilter: 'never-published' }), null)
  const reader = books.as(caller('reader'))
  t.is(await reader.findOne({ documentId, status: 'published', filters: { price: 4 } }), null)
  const refused = reader.findOne({ documentId, status: 'published', filters: { secret: 'kept' } })
  t.regex(await refusalOf(refused), /Invalid key secret/)
  t.regex(await refusalOf(books.findOne({ documentId, filters: { prise: 4 } })), /did you mean `price`/)
})
