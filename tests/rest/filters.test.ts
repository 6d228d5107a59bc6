import test from 'ava'
import { printFilter } from '../query/print.ts'
import { check, readList } from './reading.ts'

const filter = ({ filter }: Parameters<Parameters<typeof check>[2]>[0]) => printFilter(filter)

test('a value means $eq and a list $in, in every list syntax', t => {
  check(
    t,
    [
      ['', 'everything'],
      ['filters[title]=a', 'title $eq "a"'],
      ['filters[title][$eq]=a', 'title $eq "a"'],
      ['filters[title][$eq]=', 'title $eq ""'],
      ['filters[title][$eq]=null', 'title $eq "null"'],
      ['filters[title]', 'title $null true'],
      ['filters[title][$ne]', 'title $notNull true'],
      ['filters[author]', 'author[id $null true]'],
      ['filters[title]=a+b%20c', 'title $eq "a b c"'],
      ['filters[title]=a&filters[title]=b', 'title $in "a","b"'],
      ['filters[title][0]=a&filters[title][1]=b', 'title $in "a","b"'],
      ['filters[title][]=a', 'title $in "a"'],
      ['filters[title][$eq]=a&filters[title][$eq]=b', 'title $in "a","b"'],
      ['filters[title][$in]=a', 'title $in "a"'],
      ['filters[title][$in]=a,b', 'title $in "a,b"'],
      ['filters[title][$in]=', 'title $in ""'],
      ['filters[title][$in][1]=b&filters[title][$in][0]=a', 'title $in "a","b"'],
      ['filters[title][$in][3]=a&filters[title][$in][99]=b', 'title $in "a","b"'],
      ['filters[title][$in][0][0]=a', 'title $in "a"'],
      ['filters[title][$notIn]=a&filters[title][$notIn]=b', 'title $notIn "a","b"'],
      ['filters%5Btitle%5D%5B%24eq%5D=a', 'title $eq "a"'],
      ['filters[title][$eq][$eq]=a', 'title $eq "a"'],
      ['filters[title]=a&filters[title][$ne]=b', '(title $in "a" and title $ne "b")'],
      [
        'filters[title][0]=a&filters[title][1][$ne]=b&filters[title][2][$ne]=c',
        '(title $in "a" and title $ne "b" and title $ne "c")',
      ],
    ],
    filter,
  )
})

test('several operators and several attributes are combined by AND', t => {
  check(
    t,
    [
      ['filters[pages][$gt]=1&filters[pages][$lt]=5', '(pages $gt 1 and pages $lt 5)'],
      ['filters[pages]=1&filters[title]=a', '(pages $eq 1 and title $eq "a")'],
      [
        'filters[id]=7&filters[documentId]=x&filters[locale]=fr',
        '(id $eq 7 and documentId $eq "x" and locale $eq "fr")',
      ],
      ['filters[createdAt][$gt]=2024-01-01', 'createdAt $gt "2024-01-01T00:00:00.000Z"'],
    ],
    filter,
  )
})

test('an operator with one operand accepts a list of values and matches any of them', t => {
  check(
    t,
    [
      [
        'filters[title][$contains]=a&filters[title][$contains]=b',
        '(title $contains "a" or title $contains "b")',
      ],
      ['filters[title][$startsWith][0]=a', 'title $startsWith "a"'],
      ['filters[pages][$lt][0]=1&filters[pages][$lt][1]=2', '(pages $lt 1 or pages $lt 2)'],
    ],
    filter,
  )
})

test('$null and $notNull are true for every value except those meaning false', t => {
  const yes = ['true', '1', 't', 'yes'].map(
    word => [`filters[title][$null]=${word}`, 'title $null true'] as const,
  )
  const no = ['false', '0', 'f', ''].map(
    word => [`filters[title][$notNull]=${word}`, 'title $notNull false'] as const,
  )
  check(t, [...yes, ...no, ['filters[title][$null]', 'title $null false']], filter)
})

test('$between requires exactly two values', t => {
  const refused = 'Invalid value for $between of pages: expected a list of exactly two values | pages filters'
  check(
    t,
    [
      ['filters[pages][$between]=1&filters[pages][$between]=5', 'pages $between 1,5'],
      ['filters[pages][$between][0]=5&filters[pages][$between][1]=1', 'pages $between 5,1'],
      ['filters[pages][$between]=1', refused],
      ['filters[pages][$between][0]=1&filters[pages][$between][1]=2&filters[pages][$between][2]=3', refused],
    ],
    filter,
  )
})

test('groups nest to any depth, and a list is negated as a whole', t => {
  check(
    t,
    [
      ['filters[$or][0][pages]=1&filters[$or][1][pages]=2', '(pages $eq 1 or pages $eq 2)'],
      ['filters[$or][][pages]=1&filters[$or][][pages]=2', 'pages $in 1,2'],
      ['filters[$or][0][pages]=1', 'pages $eq 1'],
      [
        'filters[$or][0][pages]=1&filters[$or][0][title]=a&filters[$or][1][pages]=2',
        '((pages $eq 1 and title $eq "a") or pages $eq 2)',
      ],
      [
        'filters[$and][0][$or][0][pages]=1&filters[$and][0][$or][1][pages]=2&filters[title]=a',
        '((pages $eq 1 or pages $eq 2) and title $eq "a")',
      ],
      ['filters[$not][pages][$eq]=1', 'not pages $eq 1'],
      ['filters[$not][pages]=1&filters[$not][title]=a', 'not (pages $eq 1 and title $eq "a")'],
      ['filters[$not][0][pages]=1&filters[$not][1][title]=a', 'not (pages $eq 1 and title $eq "a")'],
      ['filters[$not][$not][pages]=1', 'not not pages $eq 1'],
      ['filters[pages][$not][$in][0]=1&filters[pages][$not][$in][1]=2', 'not pages $in 1,2'],
      ['filters[pages][$not]=1', 'not pages $eq 1'],
      ['filters[pages][$not][0]=1&filters[pages][$not][1]=2', 'not (pages $eq 1 and pages $eq 2)'],
    ],
    filter,
  )
})

test('conditions cross relations, locales and components, and nested ones apply to the same row', t => {
  check(
    t,
    [
      ['filters[author][name]=Ada', 'author[name $eq "Ada"]'],
      [
        'filters[author][name]=Ada&filters[author][documentId]=x',
        'author[(name $eq "Ada" and documentId $eq "x")]',
      ],
      [
        'filters[$and][0][sequels][pages]=1&filters[$and][1][sequels][pages]=2',
        '(sequels[pages $eq 1] and sequels[pages $eq 2])',
      ],
      ['filters[author][books][author][name]=Ada', 'author[books[author[name $eq "Ada"]]]'],
      [
        'filters[author][$or][0][name]=a&filters[author][$or][1][name]=b',
        'author[(name $eq "a" or name $eq "b")]',
      ],
      ['filters[localizations][locale]=fr', 'localizations[locale $eq "fr"]'],
      ['filters[meta][label]=x', 'meta[label $eq "x"]'],
      ['filters[metas][label][$contains]=x', 'metas[label $contains "x"]'],
    ],
    filter,
  )
})

test('a relation or component without an attribute is compared by its id', t => {
  const text = 'Invalid value for $eq of id at author: expected an integer | author filters'
  check(
    t,
    [
      ['filters[author]=7', 'author[id $eq 7]'],
      ['filters[author][$eq]=7', 'author[id $eq 7]'],
      ['filters[author][0]=7&filters[author][1]=8', 'author[id $in 7,8]'],
      ['filters[author][$in]=7&filters[author][$in]=8', 'author[id $in 7,8]'],
      ['filters[author][$null]=true', 'author[id $null true]'],
      ['filters[meta][$notNull]=true', 'meta[id $notNull true]'],
      ['filters[author][$not][$null]=true', 'author[not id $null true]'],
      ['filters[author][$not]=7', 'author[not id $eq 7]'],
      ['filters[author][$not][name]=a', 'author[not name $eq "a"]'],
      ['filters[author]=', text],
      ['filters[author]=abcdefghijklmnopqrstuvwx', text],
      [
        'filters[author][$contains]=7',
        'Invalid value for $contains of id at author: expected an operator for values of type id | author filters',
      ],
    ],
    filter,
  )
})

test('an unknown name is reported with its path', t => {
  check(
    t,
    [
      ['filters[nothing]=1', 'Invalid key nothing | null filters'],
      ['filters[title]=a&filters[nothing]=1', 'Invalid key nothing | null filters'],
      ['filters[$or][0][nothing]=1', 'Invalid key nothing | null filters'],
      ['filters[author][nothing]=1', 'Invalid key nothing at author | author filters'],
      ['filters[author][books][nothing]=1', 'Invalid key nothing at author.books | author.books filters'],
      ['filters[title][$like]=a', 'Invalid key $like at title | title filters'],
      ['filters[title][eq]=a', 'Invalid key eq at title | title filters'],
      ['filters[title][name]=a', 'Invalid key name at title | title filters'],
      ['filters[title][$or][0]=a', 'Invalid key $or at title | title filters'],
      ['filters[data][a]=1', 'Invalid key a at data | data filters'],
      ['filters[$nor][0][title]=a', 'Invalid key $nor | null filters'],
      ['filters[$eq]=a', 'Invalid key $eq | null filters'],
      ['filters[createdBy][id]=1', 'Invalid key createdBy | createdBy filters'],
      [
        'filters[author][updatedBy]=1',
        'Invalid key updatedBy at author.updatedBy | author.updatedBy filters',
      ],
      ['filters[0][title]=a', 'Invalid key 0 | null filters'],
      ['filters[]=a', 'Invalid key 0 | null filters'],
      ['filters[title', 'Invalid key [title | null filters'],
    ],
    filter,
  )
})

test('media and dynamic zones cannot be filtered by', t => {
  check(
    t,
    [
      ['filters[cover][name]=a', 'Invalid key cover | cover filters'],
      ['filters[cover][$null]=true', 'Invalid key cover | cover filters'],
      ['filters[meta][image][name]=a', 'Invalid key image at meta.image | meta.image filters'],
      ['filters[zone][text]=a', 'Invalid key zone | zone filters'],
    ],
    filter,
  )
})

test('an invalid condition is refused, never ignored', t => {
  check(
    t,
    [
      ['filters=', 'The filters parameter must be an object or an array'],
      ['filters=text', 'The filters parameter must be an object or an array'],
      ['filters[$or]=x', 'Invalid value for $or: expected a list of objects of conditions | $or filters'],
      [
        'filters[$or][title]=x',
        'Invalid value for $or: expected a list of objects of conditions | $or filters',
      ],
      [
        'filters[author][$and]=x',
        'Invalid value for $and at author.$and: expected a list of objects of conditions | author.$and filters',
      ],
      ['filters[$or][0]=x', 'Invalid value for $or: expected an object of conditions | $or filters'],
      ['filters[$not]=x', 'Invalid value for $not: expected an object of conditions | $not filters'],
      ['filters[title][$in][x]=a', 'Invalid value for $in of title: expected a text | title filters'],
      [
        'filters[title][$null][x]=a',
        'Invalid value for $null of title: expected true or false | title filters',
      ],
      ['filters[pages]=many', 'Invalid value for $eq of pages: expected an integer | pages filters'],
      [
        'filters[author][books][pages][$gt]=many',
        'Invalid value for $gt of pages at author.books.pages: expected an integer | author.books.pages filters',
      ],
      [
        'filters[pages]=99999999999',
        'Invalid value for $eq of pages: expected an integer of at most 2147483647 | pages filters',
      ],
      [
        'filters[pages][$contains]=1',
        'Invalid value for $contains of pages: expected an operator for values of type integer | pages filters',
      ],
      [
        'filters[day][$startsWith]=2024',
        'Invalid value for $startsWith of day: expected an operator for values of type date | day filters',
      ],
      [
        'filters[title]=a%00b',
        'Invalid value for $eq of title: expected a text without NUL characters | title filters',
      ],
      ['filters[day]=yesterday', 'Invalid format, expected yyyy-MM-dd'],
      ['filters[at][$in]=noon', 'Invalid time format, expected HH:mm:ss.SSS'],
      ['filters[moment]=soon', 'Invalid format, expected a timestamp or an ISO date'],
    ],
    filter,
  )
})

test('case-insensitive operators read any value as text', t => {
  check(
    t,
    [
      ['filters[pages][$containsi]=1', 'pages $containsi "1"'],
      ['filters[data][$containsi]=X', 'data $containsi "X"'],
      ['filters[pages][$eqi]=ten', 'pages $eqi "ten"'],
    ],
    filter,
  )
})

test('lists of more than a hundred items and queries of more than a thousand parameters are refused, never cut', t => {
  const list = 'A list of a query may have at most 100 items'
  const repeated = (count: number, part: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => part(index)).join('&')
  check(
    t,
    [
      [repeated(101, index => `filters[title][$in][${index}]=a`), list],
      [repeated(101, () => 'filters[title][$in]=a'), list],
      [repeated(101, () => 'filters[title][$in][]=a'), list],
      ['filters[title][$in][200]=a', list],
      [repeated(101, index => `filters[$or][${index}][title]=a`), list],
      [repeated(1001, index => `x${index}=1`), 'A query may have at most 1000 parameters'],
    ],
    filter,
  )
  const longest = readList(repeated(100, () => 'filters[title][$in]=a'))
  t.is(longest.ok && longest.value.query.filter?.kind, 'comparison')
})

test('a key deeper than twenty brackets is an unknown name', t => {
  const deep = (levels: number) => `filters${'[$and][0]'.repeat(levels)}[title]=a`
  check(
    t,
    [
      [deep(9), 'title $eq "a"'],
      [deep(10), 'Invalid key [title] | null filters'],
    ],
    filter,
  )
})

test('names of built-in object properties are unknown names', t => {
  check(
    t,
    [
      ['filters[__proto__][pages]=1', 'everything'],
      ['filters[constructor]=1', 'everything'],
      ['filters[toString]=1', 'everything'],
      ['__proto__[polluted]=1', 'everything'],
    ],
    filter,
  )
  t.is(({} as Record<string, unknown>).polluted, undefined)
})

test('filters and sorts may cross fifty relations and components in total', t => {
  const groups = (length: number, top = 'filters') =>
    Array.from({ length }, (_, at) => `${top}[$and][${at}][author][books][title]=x`).join('&')
  t.true(readList(groups(25)).ok)
  const message = 'The filters and sorts of a query may go over at most 50 relations and components'
  check(
    t,
    [
      [groups(26), message],
      [`${groups(25)}&sort=author.name`, message],
      [groups(26, 'populate[sequels][populate][sequels][filters]'), message],
      [`${groups(25)}&populate[sequels][sort]=author.name`, message],
    ],
    filter,
  )
})
