import test from 'ava'
import type { Query } from '../../core/query/query.ts'
import { printSelection } from '../query/print.ts'
import { check, readList } from './reading.ts'

const populate = ({ selection }: Query) => printSelection(selection)

test('names are given as text or list, nested ones with dots', t => {
  check(
    t,
    [
      ['populate=', '*'],
      ['populate', '*'],
      ['populate[0]=', '*'],
      ['populate=author', '* author<named>(*)'],
      ['populate=author, meta', '* author<named>(*) meta<named>(*)'],
      ['populate[0]=author&populate[1]=meta', '* author<named>(*) meta<named>(*)'],
      ['populate=author&populate=author', '* author<named>(*)'],
      ['populate=.author.', '* author<named>(*)'],
      ['populate=author.books', '* author<passed>(* books<named>(*))'],
      ['populate=author.books,author', '* author<named>(* books<named>(*))'],
      [
        'populate[0]=sequels.author&populate[1]=sequels.meta.image',
        '* sequels<passed>(* author<named>(*) meta<passed>(* image<named>(*)))',
      ],
      ['populate=localizations,cover', '* localizations<named>(*) cover<named>(*)'],
      ['fields=title&populate=author', 'title author<named>(*)'],
    ],
    populate,
  )
})

test('a star populates one level of everything that is not a field', t => {
  check(
    t,
    [
      ['populate=*', '* books<all>(*)'],
      ['populate[books][populate]=author', '* books<named>(* author<named>(*))'],
    ],
    populate,
    'person',
  )
})

test('an object enables or disables an attribute, or has options for its rows', t => {
  const rows =
    'populate[sequels][fields]=title&populate[sequels][filters][pages][$gt]=1&populate[sequels][sort]=pages:desc'
  check(
    t,
    [
      ['populate[author]=true', '* author<named>(*)'],
      ['populate[author]=1&populate[meta]=false', '* author<named>(*)'],
      ['populate[author]', '*'],
      ['populate[author][populate]=true', '* author<named>(*)'],
      [
        'populate[author][populate]=books&populate=meta&populate[cover]=true',
        '* author<named>(* books<named>(*)) meta<named>(*) cover<named>(*)',
      ],
      [
        'populate[author][populate][books][fields]=title&populate[author][populate]=books',
        '* author<named>(* books<named>(*))',
      ],
      ['populate[zone][on][parts.quote][populate]=true', '* zone<named>(parts.quote: *)'],
      [
        'populate[author][fields]&populate[author][filters]=&populate[author][populate]',
        '* author<named>(*)',
      ],
      ['populate[author][populate]=books.author', '* author<named>(* books<passed>(* author<named>(*)))'],
      [
        'populate[author][populate][books][populate]=*',
        '* author<named>(* books<named>(* author<all>(*) sequels<all>(*) cover<all>(*) meta<all>(*) metas<all>(*) zone<all>(parts.quote: *; parts.gallery: *) localizations<all>(*)))',
      ],
      [rows, '* sequels<named>(title pages where pages $gt 1 by pages desc)'],
      ['populate[sequels][count]=true', '* sequels<named count>(*)'],
      ['populate[sequels][count]=false', '* sequels<named>(*)'],
      [
        'populate[metas][sort]=label&populate[metas][filters][label]=x',
        '* metas<named>(* where label $eq "x" by label asc)',
      ],
      ['populate[0]=meta&populate[author]=true', '* author<named>(*)'],
    ],
    populate,
  )
})

test('a zone is returned completely, or with the named components', t => {
  check(
    t,
    [
      ['populate=zone', '* zone<named>(parts.quote: *; parts.gallery: *)'],
      ['populate[zone]=true', '* zone<named>(parts.quote: *; parts.gallery: *)'],
      [
        'populate[zone][populate]=*',
        '* zone<named>(parts.quote: * by<all>(*); parts.gallery: * images<all>(*) metas<all>(*))',
      ],
      ['populate=zone.by', '* zone<passed>(parts.quote: * by<named>(*); parts.gallery: *)'],
      [
        'populate=zone.metas.image',
        '* zone<passed>(parts.quote: *; parts.gallery: * metas<passed>(* image<named>(*)))',
      ],
      ['populate[zone][on][parts.quote]=true', '* zone<named>(parts.quote: *)'],
      ['populate[zone][on][parts.quote]=false', '* zone<named>(parts.quote: *)'],
      [
        'populate[zone][on][parts.quote][populate]=by&populate[zone][on][parts.gallery][fields]=title',
        '* zone<named>(parts.quote: * by<named>(*); parts.gallery: title)',
      ],
      [
        'populate[zone][on][parts.quote][populate][by][fields]=name',
        '* zone<named>(parts.quote: * by<named>(name))',
      ],
      ['populate[zone][on][parts.other]=true', '* zone<named>()'],
      [
        'populate[zone][on][parts.quote][filters][text]=a&populate[zone][on][parts.quote][fields]=text',
        '* zone<named>(parts.quote: text where text $eq "a")',
      ],
      ['populate[zone][on][parts.quote][filters]=', '* zone<named>(parts.quote: *)'],
      ['populate=zone.text', '* zone<passed>(parts.quote: *; parts.gallery: *)'],
      ['populate[zone][on]=', '* zone<named>()'],
    ],
    populate,
  )
})

test('files and zone entries are returned, never counted', t => {
  check(
    t,
    [
      ['populate[zone][count]=true', '* zone<named>(parts.quote: *; parts.gallery: *)'],
      ['populate[cover][count]=true', '* cover<named>(*)'],
      ['populate[localizations][count]=true', '* localizations<named>(*)'],
    ],
    populate,
  )
})

test('a text where an option is expected is neither a name nor true', t => {
  check(
    t,
    [
      ['populate=true', 'Invalid key true | true populate'],
      ['populate[]', 'Invalid populate parameter. Expected a string, an array of strings, a populate object'],
      ['populate[author]=books', 'Invalid key books at author.books | author.books populate'],
      ['populate[author][]=books.author', 'Invalid key books at author.books | author.books populate'],
      ['populate[author]=yes', 'Invalid key yes at author | author populate'],
      ['populate[zone][populate]=true', 'Invalid key populate at zone | zone populate'],
    ],
    populate,
  )
})

test('unknown populate names are refused: with the whole path of a text, with the path of the enclosing object', t => {
  check(
    t,
    [
      ['populate=nothing', 'Invalid key nothing | nothing populate'],
      ['populate=title', 'Invalid key title | title populate'],
      ['populate=createdBy', 'Invalid key createdBy | createdBy populate'],
      ['populate=constructor', 'Invalid key constructor | constructor populate'],
      ['populate=author.nothing', 'Invalid key nothing at author.nothing | author.nothing populate'],
      ['populate=author.name', 'Invalid key name at author.name | author.name populate'],
      ['populate[0]=*', 'Invalid key * | * populate'],
      ['populate=zone.*', 'Invalid key * at zone.* | zone.* populate'],
      ['populate=zone.nothing', 'Invalid key nothing at zone.nothing | zone.nothing populate'],
      ['populate[nothing]=true', 'Invalid key nothing | null populate'],
      ['populate[title]=true', 'Invalid key title | title populate'],
      ['populate[author]=', 'Invalid key  at author | author populate'],
      ['populate[author]=*', 'Invalid key * at author | author populate'],
      ['populate[author]=yes', 'Invalid key yes at author | author populate'],
      ['populate[author][populate]=nothing', 'Invalid key nothing | nothing populate'],
      ['populate[author][populate][nothing]=true', 'Invalid key nothing | null populate'],
      ['populate[author][populate][0]=*', 'Invalid key * | * populate'],
      ['populate[author][fields]=name&populate=nothing', 'Invalid key nothing | null populate'],
      [
        'populate[author][fields]=name&populate=constructor',
        'Invalid populate parameter. Expected a string, an array of strings, a populate object',
      ],
      [
        'populate[0][author]=true',
        'Invalid populate parameter. Expected a string, an array of strings, a populate object',
      ],
    ],
    populate,
  )
})

test('options that a populate does not support are refused, pagination included', t => {
  const unknown = ['limit', 'start', 'page', 'pageSize', 'pagination', 'status', 'nothing'].map(
    name => [`populate[author][${name}]=1`, `Invalid key ${name} at author | author populate`] as const,
  )
  check(
    t,
    [
      ...unknown,
      ['populate[sequels][locale]=fr', 'Invalid key locale at sequels.locale | sequels.locale populate'],
      ['populate[author][count]=many', 'Invalid key count at author | author populate'],
      [
        'populate[author][on][parts.quote]=true',
        'Using fragments is not permitted to populate "author" in "api::book.book"',
      ],
    ],
    populate,
  )
})

test('paths inside a populate start at its own level', t => {
  check(
    t,
    [
      ['populate[author][fields]=nothing', 'Invalid key nothing | null populate'],
      ['populate[author][fields]=books', 'Invalid key books | books populate'],
      ['populate[author][filters][nothing]=1', 'Invalid key nothing | null populate'],
      ['populate[author][filters][books][nothing]=1', 'Invalid key nothing at books | books populate'],
      ['populate[author][filters]=x', 'The filters parameter must be an object or an array'],
      ['populate[author][sort]=nothing', 'Invalid key nothing | null populate'],
      ['populate[meta][fields]=nothing', 'Invalid key nothing | null populate'],
    ],
    populate,
  )
})

test('parameters that a dynamic zone does not support are refused', t => {
  const nested = (found: string) =>
    `Invalid nested populate for book.zone (api::book.book). Expected a fragment ("on") or "count" but found ${found}`
  check(
    t,
    [
      ['populate[zone][fields]=text', nested('{"fields":"text"}')],
      ['populate[zone][sort]=text', nested('{"sort":"text"}')],
      ['populate[zone][filters][text]=a', nested('{"filters":{"text":"a"}}')],
      ['populate[zone][populate]=by', 'Invalid key populate at zone | zone populate'],
      ['populate[zone][populate][by]=true', 'Invalid key populate at zone | zone populate'],
      ['populate[zone][limit]=1', 'Invalid key limit at zone | zone populate'],
      ['populate[zone][on]=parts.quote', 'Invalid key on at zone.on | zone.on populate'],
      [
        'populate[zone][on][parts.nothing]=true',
        'Invalid key parts.nothing at zone.on.parts.nothing | zone.on.parts.nothing populate',
      ],
      ['populate[zone][on][parts.quote]=*', 'Invalid key * at zone | zone populate'],
      [
        'populate[zone][on][parts.quote][sort]=text',
        'Invalid key sort at zone.on.parts.quote | zone.on.parts.quote populate',
      ],
      ['populate[zone][on][parts.quote][filters][nothing]=a', 'Invalid key nothing | null populate'],
      ['populate[zone][on][parts.quote][populate]=nothing', 'Invalid key nothing | nothing populate'],
    ],
    populate,
  )
})

test('a populate is limited to ten levels and five hundred attributes', t => {
  const deep = (length: number) =>
    Array.from({ length }, (_, at) => (at % 2 === 0 ? 'author' : 'books')).join('.')
  t.true(readList(`populate=${deep(10)}`).ok)
  check(t, [[`populate=${deep(11)}`, 'A populate may go at most 10 levels deep']], populate)
  const six = 'author.books.author.books.author.books'
  const mixed = `populate[sequels][populate][author][populate][books][populate]=${six}.author.books`
  check(t, [[mixed, 'A populate may go at most 10 levels deep']], populate)
  check(t, [[`populate=${paths(8)}`, 'A query may populate at most 500 attributes']], populate)
  t.true(readList(`populate=${paths(7)}`).ok)
})

/** Every way of so many steps over two relations of a book to books. */
function paths(length: number): string {
  const ways = Array.from({ length: 2 ** length }, (_, way) => way.toString(2).padStart(length, '0'))
  return ways.map(way => [...way].map(bit => (bit === '0' ? 'sequels' : 'localizations')).join('.')).join()
}
