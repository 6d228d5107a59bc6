import test from 'ava'
import type { Query } from '../../core/query/query.ts'
import { faultText } from '../query/library.ts'
import { printLocale } from '../query/print.ts'
import { check, must, readList, readOne } from './reading.ts'

test('status is published or draft; other values are refused', t => {
  const refused = 'Invalid value for status: expected published or draft'
  check(
    t,
    [
      ['', 'published'],
      ['status=published', 'published'],
      ['status=draft', 'draft'],
      ['status=Draft', refused],
      ['status=', refused],
      ['status=draft&status=draft', refused],
      ['publicationState=preview', 'published'],
    ],
    ({ status }: Query) => status,
  )
})

test('a list accepts one locale, several or all', t => {
  check(
    t,
    [
      ['', 'en'],
      ['locale=', 'en'],
      ['locale=fr', 'fr'],
      ['locale=de', 'de'],
      ['locale=*', 'all'],
      ['locale[0]=en&locale[1]=fr', 'en,fr'],
      ['locale=en&locale=fr', 'en,fr'],
      ['locale[0][a]=en', 'Invalid locale param {"a":"en"} provided. Document locales must be strings.'],
      ['locale[a]=en', 'Invalid locale param {"a":"en"} provided. Document locales must be strings.'],
    ],
    printLocale,
  )
})

test('one document accepts one locale', t => {
  t.is(printLocale(must(readOne('locale=fr'))), 'fr')
  t.is(printLocale(must(readOne('locale=*'))), '*')
  t.is(
    faultText(readOne('locale[0]=en&locale[1]=fr')),
    'Invalid locale param en,fr provided. Document locales must be strings.',
  )
})

test('a filter on the locale selects locales', t => {
  for (const query of ['filters[locale]=fr', 'filters[locale][$in][0]=fr&locale=en']) {
    t.is(printLocale(must(readOne(query))), 'all')
    check(t, [[query, 'all']], printLocale)
  }
  check(t, [['filters[$and][0][locale]=fr', 'en']], printLocale)
})

test('types without locales ignore the locale', t => {
  check(
    t,
    [
      ['locale=fr', 'all'],
      ['locale[a]=fr', 'all'],
    ],
    printLocale,
    'person',
  )
})

test('documents are filtered by publication state', t => {
  const publication = ({ publication }: Query) => String(publication)
  check(
    t,
    [
      ['', 'null'],
      ['publicationFilter=modified', 'modified'],
      ['publicationFilter=never-published-document', 'never-published-document'],
      ['hasPublishedVersion=true', 'has-published-version'],
      ['hasPublishedVersion=false', 'never-published'],
      ['hasPublishedVersion=maybe', 'Invalid value for hasPublishedVersion: expected true or false'],
    ],
    publication,
  )
  t.regex(
    faultText(readList('publicationFilter=new')),
    /^Invalid value for publicationFilter: expected never-published or /,
  )
  check(t, [['publicationFilter=new', 'null']], publication, 'person')
})

test('a search covers texts, numbers, uids and the documentId', t => {
  check(
    t,
    [
      ['', 'none'],
      ['_q=', 'none'],
      ['_q=a%25b', 'a%b in documentId title text prose kind contact slug pages sold weight price'],
      ['_q[0]=a', 'Invalid value for _q: expected a text'],
      ['_q=a&_q=b', 'Invalid value for _q: expected a text'],
      ['_q=a%00', 'Invalid value for _q: expected a text'],
    ],
    ({ search }) =>
      search ? `${search.text} in ${search.attributes.map(({ name }) => name).join(' ')}` : 'none',
  )
})

test('unknown parameters are ignored, lookup is refused', t => {
  t.true(readList('foo=bar&baz[x]=1&_=123&where[title]=x&select=title').ok)
  t.is(faultText(readList('lookup[title]=1')), "Invalid params: 'lookup'")
})

test('errors are reported in the order filters, sort, fields, populate', t => {
  const all = ['filters[a]=1', 'sort=b', 'fields=c', 'populate=d']
  const reported = all.map((_, from) => faultText(readList(all.slice(from).reverse().join('&'))))
  t.deepEqual(reported, [
    'Invalid key a | null filters',
    'Invalid key b | null sort',
    'Invalid key c | null fields',
    'Invalid key d | d populate',
  ])
})
