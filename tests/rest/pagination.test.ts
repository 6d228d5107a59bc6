import test from 'ava'
import {
  type PaginationParams,
  pageOf,
  parsePagination,
  printPagination,
} from '../../core/actions/parameters/parse-pagination.ts'
import { faultText } from '../query/library.ts'
import { readList, readOne, SETTINGS } from './reading.ts'

/** `rows 0+25 {"page":1,…}` of a list that has five documents. */
function read(search: string): string {
  const parsed = readList(search)
  if (!parsed.ok) return faultText(parsed)
  const { query, pagination } = parsed.value
  if (query.take.kind !== 'many') return 'not a list'
  const { start, limit } = query.take.page
  return `rows ${start}+${limit} ${printPagination(pagination, query.take.total ? 5 : null)}`
}

const START = 'convertStartQueryParams expected a positive integer got'
const LIMIT = 'convertLimitQueryParams expected a positive integer got'
const COUNT = 'Invalid withCount parameter. Expected "t","1","true","false","0","f"'
const PLAIN = 'rows 0+25 {"page":1,"pageSize":25,"pageCount":1,"total":5}'

const TABLES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'nothing, or what is no pagination, is the first page': [
    ['', PLAIN],
    ['pagination=', PLAIN],
    ['pagination=2', PLAIN],
    ['pagination[nothing]=2', PLAIN],
    ['start=1&limit=2', PLAIN],
    ['_limit=2&_start=1', PLAIN],
  ],
  'pages count from one': [
    ['pagination[page]=2&pagination[pageSize]=2', 'rows 2+2 {"page":2,"pageSize":2,"pageCount":3,"total":5}'],
    [
      'pagination[page]=9&pagination[pageSize]=2',
      'rows 16+2 {"page":9,"pageSize":2,"pageCount":3,"total":5}',
    ],
    [
      'pagination[page]=1.5&pagination[pageSize]=2',
      'rows 1+2 {"page":1,"pageSize":2,"pageCount":3,"total":5}',
    ],
    ['pagination[page]=0', PLAIN],
    ['pagination[page]=-1', PLAIN],
    ['pagination[page]=', PLAIN],
    ['pagination[page]=two', `${START} NaN`],
    ['pagination[page]=1.5', `${START} 12.5`],
    [
      'pagination[page]=99999999999',
      'rows 2499999999950+25 {"page":99999999999,"pageSize":25,"pageCount":1,"total":5}',
    ],
  ],
  'sizes lie between one and the most': [
    ['pagination[pageSize]=2e0', 'rows 0+2 {"page":1,"pageSize":2,"pageCount":3,"total":5}'],
    ['pagination[pageSize]=0', 'rows 0+1 {"page":1,"pageSize":1,"pageCount":5,"total":5}'],
    ['pagination[pageSize]=-2', 'rows 0+1 {"page":1,"pageSize":1,"pageCount":5,"total":5}'],
    ['pagination[pageSize]=', 'rows 0+1 {"page":1,"pageSize":1,"pageCount":5,"total":5}'],
    ['pagination[pageSize]=101', 'rows 0+100 {"page":1,"pageSize":100,"pageCount":1,"total":5}'],
    ['pagination[pageSize]=many', 'rows 0+100 {"page":1,"pageSize":100,"pageCount":1,"total":5}'],
    [
      'pagination[pageSize]=2&pagination[pageSize]=3',
      'rows 0+100 {"page":1,"pageSize":100,"pageCount":1,"total":5}',
    ],
    ['pagination[pageSize][a]=2', 'rows 0+100 {"page":1,"pageSize":100,"pageCount":1,"total":5}'],
    ['pagination[pageSize]=2.7', `${LIMIT} 2.7`],
  ],
  'offsets count documents': [
    ['pagination[start]=2', 'rows 2+25 {"start":2,"limit":25,"total":5}'],
    ['pagination[limit]=2', 'rows 0+2 {"start":0,"limit":2,"total":5}'],
    ['pagination[start]=50&pagination[limit]=2', 'rows 50+2 {"start":50,"limit":2,"total":5}'],
    ['pagination[start]=-1&pagination[limit]=0', 'rows 0+1 {"start":0,"limit":1,"total":5}'],
    ['pagination[limit]=500', 'rows 0+100 {"start":0,"limit":100,"total":5}'],
    ['pagination[limit]=many', 'rows 0+100 {"start":0,"limit":100,"total":5}'],
    ['pagination[start]=x', `${START} NaN`],
    ['pagination[start]=1.5', `${START} 1.5`],
  ],
  'withCount=false leaves out the total': [
    ['pagination[withCount]=false', 'rows 0+25 {"page":1,"pageSize":25}'],
    ['pagination[withCount]=0&pagination[start]=1', 'rows 1+25 {"start":1,"limit":25}'],
    ['pagination[withCount]=f', 'rows 0+25 {"page":1,"pageSize":25}'],
    ['pagination[withCount]=t', PLAIN],
    ['pagination[withCount]=1', PLAIN],
    ['pagination[withCount]=maybe', COUNT],
    ['pagination[withCount]=', COUNT],
  ],
  'withCount=estimate says whether the total is exact': [
    [
      'pagination[withCount]=estimate',
      'rows 0+25 {"page":1,"pageSize":25,"pageCount":1,"total":5,"totalIsExact":true}',
    ],
    [
      'pagination[withCount]=estimate&pagination[start]=1',
      'rows 1+25 {"start":1,"limit":25,"total":5,"totalIsExact":true}',
    ],
  ],
  'the two forms do not mix, nor stand outside of pagination': [
    ['pagination[page]=1&pagination[limit]=2', 'Cannot use both page & offset pagination in the same query'],
    [
      'pagination[pageSize]=1&pagination[start]=2',
      'Cannot use both page & offset pagination in the same query',
    ],
    [
      'page=2&pageSize=2',
      'Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object',
    ],
  ],
}

for (const [title, table] of Object.entries(TABLES)) {
  test(title, t => {
    for (const [search, expected] of table) t.is(read(search), expected, search)
  })
}

test('an empty list has no pages', t => {
  const pagination: PaginationParams = { form: 'page', start: 0, limit: 25, withCount: true }
  t.is(printPagination(pagination, 0), '{"page":1,"pageSize":25,"pageCount":0,"total":0}')
  t.deepEqual(pageOf(pagination), { start: 0, limit: 25 })
})

test('a project configures default, maximum and count', t => {
  const settings = { ...SETTINGS, defaultLimit: 5, maxLimit: 10, withCount: false }
  t.deepEqual(parsePagination({}, settings), { form: 'page', start: 0, limit: 5, withCount: false })
  const most = parsePagination({ pagination: { pageSize: '50' } }, settings)
  t.is(most.limit, 10)
})

test('pagination of one document is ignored without validation', t => {
  t.true(readOne('pagination[page]=x').ok)
})
