import test from 'ava'
import type { Query } from '../../core/query/query.ts'
import { printSelection, printSorts } from '../query/print.ts'
import { check } from './reading.ts'

const sort = ({ sort: sorts }: Query) => printSorts(sorts)
const fields = ({ selection }: Query) => printSelection(selection)

const BAD_ORDER = 'Invalid order. order can only be one of asc|desc|ASC|DESC'

test('a sort is given as text, list or object, ascending by default', t => {
  check(
    t,
    [
      ['', ''],
      ['sort=title', 'title asc'],
      ['sort=title:desc', 'title desc'],
      ['sort=title:DESC', 'title desc'],
      ['sort=title:asc:desc', 'title asc'],
      ['sort=title:desc, pages', 'title desc, pages asc'],
      ['sort[0]=title:desc&sort[1]=pages', 'title desc, pages asc'],
      ['sort[]=title&sort[]=pages', 'title asc, pages asc'],
      ['sort=title&sort=pages:desc', 'title asc, pages desc'],
      ['sort[0]=title,pages:desc', 'title asc, pages desc'],
      ['sort[title]=desc&sort[pages]=asc', 'title desc, pages asc'],
      ['sort[0][title]=desc&sort[1][pages]=asc', 'title desc, pages asc'],
      ['sort=', ''],
      ['sort=,', ''],
      ['sort=data', 'data asc'],
      ['sort=id,documentId,createdAt,locale', 'id asc, documentId asc, createdAt asc, locale asc'],
    ],
    sort,
  )
})

test('a sort may cross relations, media and components', t => {
  check(
    t,
    [
      ['sort=author.name:desc', 'author.name desc'],
      ['sort[author][name]=desc', 'author.name desc'],
      ['sort[0][author][name]=desc', 'author.name desc'],
      ['sort=author..name: DeSc', 'author.name desc'],
      ['sort[author][name]= desc', 'author.name desc'],
      ['sort=meta.label', 'meta.label asc'],
      ['sort=cover.name', 'cover.name asc'],
    ],
    sort,
  )
})

test('an unknown sort name is reported before an invalid order', t => {
  check(
    t,
    [
      ['sort=title:up', BAD_ORDER],
      ['sort=title:', BAD_ORDER],
      ['sort[title]=up', BAD_ORDER],
      ['sort[title]=', BAD_ORDER],
      ['sort[title]', BAD_ORDER],
      ['sort[pages]=asc&sort[author][name]=%20', BAD_ORDER],
      ['sort[0][title]=&sort[1]=nothing', 'Invalid key nothing | null sort'],
      ['sort[nothing]=', 'Invalid key nothing | null sort'],
      ['sort=title:up,nothing', 'Invalid key nothing | null sort'],
      ['sort=-title', 'Invalid key -title | null sort'],
      ['sort[nothing]=asc', 'Invalid key nothing | null sort'],
      ['sort=author', 'Invalid key author | author sort'],
      ['sort[author]=asc', 'Invalid key author | author sort'],
      ['sort=author.books', 'Invalid key books at author.books | author.books sort'],
      ['sort=author.nothing', 'Invalid key nothing at author | author sort'],
      ['sort=title.name', 'Invalid key name at title | title sort'],
      ['sort=meta', 'Invalid key meta | meta sort'],
      ['sort=zone', 'Invalid key zone | zone sort'],
      ['sort=zone.text', 'Invalid key zone | zone sort'],
      ['sort=cover', 'Invalid key cover | cover sort'],
      ['sort=createdBy.id', 'Invalid key createdBy | createdBy sort'],
      ['sort=title;drop table books', 'Invalid key title;drop table books | null sort'],
      ['sort=hasOwnProperty', 'Invalid sort query'],
    ],
    sort,
  )
})

test('fields are given as text or list; a star means all', t => {
  check(
    t,
    [
      ['', '*'],
      ['fields=title', 'title'],
      ['fields=title, pages', 'title pages'],
      ['fields[0]=title&fields[1]=pages', 'title pages'],
      ['fields[]=title&fields[]=pages', 'title pages'],
      ['fields=title&fields=pages&fields=title', 'title pages'],
      ['fields=*', '*'],
      ['fields[0]=*&fields[1]=title', '*'],
      ['fields=id,documentId,publishedAt,locale', 'id documentId publishedAt locale'],
    ],
    fields,
  )
})

test('attributes that are no fields are refused', t => {
  const form = 'Invalid fields parameter. Expected a string or an array of strings'
  check(
    t,
    [
      ['fields[0]=title,pages', form],
      ['fields[title]=true', form],
      ['fields=', 'Invalid key  | null fields'],
      ['fields[0]=', 'Invalid key  | null fields'],
      ['fields[0]=*&fields[1]=nothing', 'Invalid key nothing | null fields'],
      ['fields=Title', 'Invalid key Title | null fields'],
      ['fields=meta.label', 'Invalid key meta.label | null fields'],
      ['fields=author', 'Invalid key author | author fields'],
      ['fields=meta', 'Invalid key meta | meta fields'],
      ['fields=zone', 'Invalid key zone | zone fields'],
      ['fields=cover', 'Invalid key cover | cover fields'],
      ['fields=createdBy', 'Invalid key createdBy | createdBy fields'],
      ['fields=__proto__', 'Invalid key __proto__ | null fields'],
    ],
    fields,
  )
})

test('sort keys are returned with the named fields when the query crosses relations', t => {
  check(
    t,
    [
      ['fields=title&sort=pages', 'title'],
      ['fields=title&sort=pages&filters[author][name]=Ada', 'title pages'],
      ['fields=title&sort=pages&filters[$or][0][$not][meta][label]=x', 'title pages'],
      ['fields=title&sort=author.name,pages&filters[author][name]=Ada', 'title'],
      ['sort=author.name,pages', '*'],
    ],
    fields,
  )
})
