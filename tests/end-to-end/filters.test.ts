import test from 'ava'
import { errorOf, openRoom, type Room } from './reading-room.ts'

// reference/rest.md#7-filters. Books: A1 Ember, B2 Frost, C3 Glass, D4 hollow; E5 Ink is a draft.
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const finds = (promise: string, expected: Readonly<Record<string, string>>) =>
  test(promise, async t => {
    for (const [query, codes] of Object.entries(expected)) {
      t.is((await room.codes(query)).join(' '), codes, query)
    }
  })

const refuses = (promise: string, queries: readonly string[]) =>
  test(promise, async t => {
    for (const query of queries) {
      const error = errorOf(await room.get(`/api/books?${query}`))
      t.is(error.status, 400, query)
      t.is(error.name, 'ValidationError', query)
    }
  })

finds('a bare value means equal, a list means any of them', {
  'filters[title]=Ember': 'A1',
  'filters[title][$eq]=Ember': 'A1',
  'filters[title]=ember': '',
  'filters[title][0]=Ember&filters[title][1]=Glass': 'A1 C3',
  'filters[title][$eq][0]=Ember&filters[title][$eq][1]=Glass': 'A1 C3',
})

finds('text compares with and without regard to case', {
  'filters[subtitle][$eqi]=HELLO WORLD': 'A1 D4',
  'filters[subtitle][$eqi]=ÉTÉ À LA PLAGE': 'B2',
  'filters[subtitle][$ne]=Hello World': 'B2 C3 D4',
  'filters[subtitle][$nei]=Hello World': 'B2 C3',
  'filters[subtitle][$contains]=World': 'A1',
  'filters[subtitle][$containsi]=World': 'A1 D4',
  'filters[subtitle][$notContains]=World': 'B2 C3 D4',
  'filters[subtitle][$notContainsi]=World': 'B2 C3',
  'filters[subtitle][$startsWith]=Hello': 'A1',
  'filters[subtitle][$startsWithi]=hello': 'A1 D4',
  'filters[subtitle][$endsWith]=plage': 'B2',
  'filters[subtitle][$endsWithi]=WORLD': 'A1 D4',
})

finds('wildcard characters in a value are letters', {
  'filters[subtitle][$contains]=%25': 'C3',
  'filters[subtitle][$contains]=_': 'C3',
  'filters[subtitle][$startsWith]=50%25': 'C3',
  'filters[subtitle][$contains]=\\': '',
  'filters[subtitle][$contains]=': 'A1 B2 C3 D4',
})

finds('numbers compare as numbers', {
  'filters[pages]=300': 'B2 D4',
  'filters[pages][$lt]=300': 'A1',
  'filters[pages][$lte]=300': 'A1 B2 D4',
  'filters[pages][$gt]=120': 'B2 D4',
  'filters[price][$gte]=9.5': 'A1 B2',
  'filters[pages][$between][0]=100&filters[pages][$between][1]=200': 'A1',
  'filters[pages][$between][0]=200&filters[pages][$between][1]=100': '',
  'filters[sold]=9007199254740993': 'A1',
  'filters[pages][$containsi]=30': 'B2 D4',
})

finds('absent values match no comparison and no negation of one, only the question for them', {
  'filters[pages][$ne]=300': 'A1',
  'filters[pages][$notIn][0]=300': 'A1',
  'filters[pages][$not][$eq]=300': 'A1',
  'filters[pages][$null]=true': 'C3',
  'filters[pages][$null]=false': 'A1 B2 D4',
  'filters[pages][$notNull]=true': 'A1 B2 D4',
  'filters[pages][$notNull]=0': 'C3',
  'filters[pages][$not][$null]=true': 'A1 B2 D4',
})

finds('lists take every form, and a comma parts nothing', {
  'filters[code][$in][0]=A1&filters[code][$in][1]=D4': 'A1 D4',
  'filters[code][$in][]=A1&filters[code][$in][]=D4': 'A1 D4',
  'filters[code][$in]=A1&filters[code][$in]=D4': 'A1 D4',
  'filters[code][$in]=A1': 'A1',
  'filters[code][$in]=A1,D4': '',
  'filters[code][$in][7]=D4&filters[code][$in][3]=A1': 'A1 D4',
  'filters[code][$notIn][0]=A1': 'B2 C3 D4',
  'filters[code][$in]=': '',
})

finds('booleans are read from the words for them', {
  'filters[inPrint]=true': 'A1 D4',
  'filters[inPrint]=1': 'A1 D4',
  'filters[inPrint]=false': 'B2',
  'filters[inPrint]=f': 'B2',
  'filters[inPrint][$null]=true': 'C3',
})

finds('dates and times compare as such', {
  'filters[day]=2024-02-29': 'A1',
  'filters[releasedAt]=2024-01-01': 'A1',
  'filters[releasedAt][$gt]=2024-01-01T00:00:00.000Z': 'B2',
  'filters[releasedAt][$lt]=2024-06-30T14:00:00%2B02:00': 'A1',
  'filters[opens]=13:45:10.250': 'A1',
  'filters[stamp]=1700000000000': 'A1',
  'filters[createdAt][$gt]=2020-01-01': 'A1 B2 C3 D4',
})

finds('json is looked into as text, and compared as a whole', {
  'filters[meta][$null]=true': 'B2 C3 D4',
  'filters[meta][$notNull]=true': 'A1',
  'filters[meta][$containsi]=TRUE': 'A1',
  'filters[tags][$containsi]=warm': 'A1',
})

finds('conditions join by and, or and not, however deep', {
  'filters[kind]=essay&filters[pages]=300': 'B2',
  'filters[pages][$gte]=100&filters[pages][$lt]=200': 'A1',
  'filters[$or][0][code]=A1&filters[$or][1][code]=D4': 'A1 D4',
  'filters[$and][0][kind]=essay&filters[$and][1][pages][$null]=true': 'C3',
  'filters[$not][kind]=essay': 'A1 D4',
  'filters[$not][0][kind]=essay': 'A1 D4',
  'filters[kind][$not][$in][0]=essay&filters[kind][$not][$in][1]=poems': 'A1',
  'filters[$or][0][code]=C3&filters[$or][1][$and][0][pages]=300&filters[$or][1][$and][1][$not][kind]=essay':
    'C3 D4',
})

finds('relations are filtered to any depth, both ways', {
  'filters[author][name]=Ada': 'A1 D4',
  'filters[author][documentId]=ben': 'B2',
  'filters[author][$null]=true': 'C3',
  'filters[author][email][$null]=true': 'B2 C3',
  'filters[subjects][name]=Night': 'A1 B2',
  'filters[subjects][books][title]=Frost': 'A1 B2',
  'filters[author][books][subjects][name]=Sea': 'A1 D4',
  'filters[author][$or][0][name]=Ben&filters[author][$or][1][email][$notNull]=true': 'A1 B2 D4',
  'filters[sequels][code]=B2': 'A1',
})

finds('two conditions on a list hold on one related document, in two groups on any', {
  'filters[subjects][name]=Fire&filters[subjects][weight]=1': '',
  'filters[$and][0][subjects][name]=Fire&filters[$and][1][subjects][weight]=1': 'A1',
})

finds('a document is found once, however many related ones match', {
  'filters[subjects][weight][$gt]=0': 'A1 B2 D4',
})

finds('components are filtered as relations are, and media by their file', {
  'filters[edition][format]=hardback': 'A1',
  'filters[editions][price][$lt]=8': 'A1',
  'filters[edition][$null]=true': 'B2 C3 D4',
})

finds('system attributes are filtered too', {
  'filters[documentId]=glass': 'C3',
  'filters[locale]=en': 'A1 B2 C3 D4',
  'filters[locale]=fr': 'A1 B2',
  'filters[publishedAt][$notNull]=true': 'A1 B2 C3 D4',
})

finds('_q finds text without regard to case, together with filters', {
  '_q=hello': 'A1 D4',
  '_q=HELLO&filters[kind]=poems': 'D4',
  '_q=_': 'C3',
  '_q=nothing-has-this': '',
  '_q=spine': '',
})

test('filters apply to one document too: no match is 404', async t => {
  t.is((await room.get('/api/books/ember?filters[kind]=novel')).status, 200)
  t.is((await room.get('/api/books/ember?filters[kind]=essay')).status, 404)
})

refuses('a filter on a private attribute or a password is refused by every path', [
  'filters[hidden]=spine',
  'filters[hidden][$null]=true',
  'filters[author][secret]=whisper',
  'filters[author][pin]=1234',
  'filters[$or][0][author][secret][$contains]=w',
  'filters[$not][author][secret]=w',
  'filters[subjects][books][hidden]=spine',
  'filters[edition][publisher][secret]=w',
  'filters[pieces][text]=x',
])

refuses('unknown attributes and operators, and what has no meaning, are refused with 400', [
  'filters[nothing]=1',
  'filters[title][$like]=1',
  'filters[meta][a]=1',
  'filters[createdBy]=1',
  'filters[pages]=many',
  'filters[id]=many',
  'filters[day]=yesterday',
  'filters[day]=2023-02-30',
  'filters[pages][$between]=1',
  'filters[pages][$contains]=3',
  'filters[$or][code]=A1',
  'filters[author][$eq]=ada',
  'filters=text',
  'filters=',
  'filters[title]=%00',
])

refuses('a list over its bound is refused, not dropped', [
  `filters[code][$in][101]=A1`,
  Array.from({ length: 101 }, () => 'filters[code][$in]=A1').join('&'),
])

test('filters and sorts cannot use a relation to a type that the caller may not find', async t => {
  for (const query of ['filters[diary][text]=x', 'filters[diary][$null]=true', 'sort=diary.text']) {
    const error = errorOf(await room.get(`/api/people?${query}`, null))
    t.is(error.status, 400, query)
    t.regex(String(error.message), /^Invalid key diary/, query)
  }
})
