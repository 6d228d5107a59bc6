import test from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

// reference/rest.md#9-relations-in-bodies, reference/documents.md#10-connecting

/** A shelf, which has no locales, links to books that have two; `mappedBy`: from the other side. */
const projectOf = (mappedBy: boolean) => ({
  name: 'Shelves',
  i18n: { locales: ['en', 'fr'] },
  contentTypes: {
    shelf: {
      pluralApiId: 'shelves',
      attributes: {
        books: {
          type: 'relation',
          relation: 'manyToMany',
          target: 'book',
          ...(mappedBy && { mappedBy: 'shelves' }),
        },
      },
    },
    book: {
      localized: true,
      attributes: {
        title: 'string',
        ...(mappedBy && {
          shelves: { type: 'relation', relation: 'manyToMany', target: 'shelf', inversedBy: 'books' },
        }),
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: SECRET } },
})

const SECRET = 'a-token-of-the-test-long-enough'

interface Written {
  readonly data: { readonly documentId: string; readonly books?: readonly { readonly title: string }[] }
  readonly error?: { readonly message: string }
}

async function write(app: TestApp, method: string, path: string, data: unknown): Promise<Written> {
  const { body } = await app.request(method, path, { token: SECRET, body: { data } })
  return body as Written
}

for (const mappedBy of [false, true]) {
  const side = mappedBy ? 'the inverse side' : 'the owning side'
  test(`a link to one locale of a document is put next to its link to another, from ${side}`, async t => {
    const app = await openTestApp(t, { project: projectOf(mappedBy) })
    const { data: other } = await write(app, 'POST', '/api/books', { title: 'other' })
    const { data: book } = await write(app, 'POST', '/api/books', { title: 'en' })
    await write(app, 'PUT', `/api/books/${book.documentId}?locale=fr`, { title: 'fr' })
    const english = book.documentId
    const french = { documentId: english, locale: 'fr' }
    const { data: shelf } = await write(app, 'POST', '/api/shelves', {
      books: [english, other.documentId, french],
    })
    const connect = async (entry: unknown) => {
      const path = `/api/shelves/${shelf.documentId}?populate=books`
      const { data, error } = await write(app, 'PUT', path, { books: { connect: [entry] } })
      return error ? error.message : data.books?.map(({ title }) => title)
    }

    t.deepEqual(await connect({ ...french, position: { before: english } }), ['fr', 'en', 'other'])
    t.deepEqual(await connect({ ...french, position: { after: english } }), ['en', 'fr', 'other'])
    const alone = await connect({ documentId: other.documentId, position: { before: other.documentId } })
    t.regex(String(alone), /needs to be connected first/)
  })
}

for (const mappedBy of [false, true]) {
  const side = mappedBy ? 'the inverse side' : 'the owning side'
  test(`links to the locales of a document keep the order in which they are set, from ${side}`, async t => {
    const app = await openTestApp(t, { project: projectOf(mappedBy) })
    const { data: book } = await write(app, 'POST', '/api/books', { title: 'en' })
    const { data: other } = await write(app, 'POST', '/api/books', { title: 'other' })
    const english = { documentId: book.documentId }
    const french = { documentId: book.documentId, locale: 'fr' }
    await write(app, 'PUT', `/api/books/${book.documentId}?locale=fr`, { title: 'fr' })
    const titles = ({ data }: Written) => data.books?.map(({ title }) => title)
    const created = await write(app, 'POST', '/api/shelves?populate=books', { books: [french, english] })
    t.deepEqual(titles(created), ['fr', 'en'])
    const path = `/api/shelves/${created.data.documentId}?populate=books`
    const set = async (books: unknown) => titles(await write(app, 'PUT', path, { books }))
    t.deepEqual(await set([english, french]), ['en', 'fr'])
    t.deepEqual(await set([french, english, other.documentId]), ['fr', 'en', 'other'])
    t.deepEqual(await set({ set: [other.documentId, english, french] }), ['other', 'en', 'fr'])
  })
}
