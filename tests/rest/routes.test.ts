import test from 'ava'
import { compileRoutes } from '../../core/rest/routes.ts'
import { library } from '../query/library.ts'

const find = compileRoutes(await library(), '/api')

/** `document book x`; the fault's message; or nothing. */
function route(path: string): string {
  const found = find(path)
  if (!found) return 'nothing'
  if (!found.ok) return found.reasons.map(({ message }) => message).join()
  const { kind, type, documentId } = found.value
  return [kind, type.key, ...(documentId === null ? [] : [documentId])].join(' ')
}

const TABLE: Readonly<Record<string, string>> = {
  '/api/books': 'collection book',
  '/api/books/': 'collection book',
  '/api/BOOKS': 'collection book',
  '/API/books': 'collection book',
  '/api/people': 'collection person',
  '/api/books/abc': 'document book abc',
  '/api/books/abc/': 'document book abc',
  '/api/books/AbC': 'document book AbC',
  '/api/books/a%20b': 'document book a b',
  '/api/books/a%2Fb': 'document book a/b',
  '/api/books/%E0%A4%A': 'failed to decode',
  '/api/landing': 'single landing',
  '/api/landing/': 'single landing',
  '/api/landing/1': 'nested landing',
  '/api/landings': 'nothing',
  '/api/actions/books/abc/unpublish': 'change book abc',
  '/api/actions/books/abc/discard-draft/': 'change book abc',
  '/api/actions/books/abc/unpublish/more': 'nothing',
  '/api/actions/books//unpublish': 'nothing',
  '/api/actions/books/abc/publish': 'nothing',
  '/api/actions/people/abc/unpublish': 'nothing',
  '/api/actions/none/abc/unpublish': 'nothing',
  '/api/books/abc/unpublish': 'nested book',
  '/api/landing/publish': 'nested landing',
  '/api/book': 'nothing',
  '/api/books//': 'nested book',
  '/api//books': 'nothing',
  '//api/books': 'nothing',
  '/api/books/abc/author': 'nested book',
  '/api/books/../people': 'nested book',
  '/api/parts/meta': 'nothing',
  '/api/users': 'nothing',
  '/api': 'nothing',
  '/api/': 'nothing',
  '/books': 'nothing',
  '/': 'nothing',
  '/api/constructor': 'nothing',
}

test('paths resolve to content-types by their plural, or by the singular of single types', t => {
  for (const [path, expected] of Object.entries(TABLE)) t.is(route(path), expected, path)
})

test('the prefix is configurable', async t => {
  const findBare = compileRoutes(await library(), '')
  t.true(findBare('/books')?.ok)
  t.is(findBare('/api/books'), null)
})
