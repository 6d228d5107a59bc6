/** Names that SQL, PostgreSQL or this code uses itself, and that a project may give to its attributes all the same. */
const KEYWORDS = `all analyse analyze any array as asc asymmetric authorization between bigint binary bit boolean both
  case cast char character check coalesce collate collation column concurrently constraint count create cross current
  cursor date dec decimal default deferrable delete desc distinct do else end except exclude excluded exists extract
  false fetch filter float for foreign freeze from full function generated grant greatest group grouping having ilike
  in index initially inner inout insert int integer intersect interval into is isnull join json key lateral leading
  least left like limit localtime merge natural national nchar new none normalize notnull null nullif numeric offset
  old on only order out outer over overlaps overlay partition placing position precision primary real references
  returning right row rows select session setof similar smallint some substring symmetric table tablesample text
  then time timestamp to trailing treat trim true union unique unnest update user using value values varchar
  variadic verbose version when where window with within without xmlelement`

/** Columns that every table of PostgreSQL has. */
const SYSTEM_COLUMNS = 'ctid xmin xmax cmin cmax tableoid oid'

/** Possible names of tables, subqueries and columns in statements. */
const ALIASES = `a b c d e f g h i j k l m n o p q r s t u v w x y z t0 t1 t2 t9 id1 c0 c1 k0 k1 r1 o1 taken given page
  due made few each wanted found known data attributes meta total name type status status2 owner ownerKey documentKey
  sharedUpdatedAt next again lead first list part parts target targetKey source copy slot place move state held block
  row_to_json json_agg string_agg to_jsonb nextval length names values2 digest listener action number public`

/** The maximal length in PostgreSQL and of attributes; in snake case they are longer. */
const LONG = ['z'.repeat(63), `aB${'cD'.repeat(30)}e`, `R${'r'.repeat(62)}`]

export const ATTRIBUTE_NAMES: readonly string[] = [
  ...new Set([
    ...[KEYWORDS, SYSTEM_COLUMNS, ALIASES].flatMap(text => text.trim().split(/\s+/)),
    ...['camelCase', 'snake_case', 'HTMLPart', 'Upper', 'x_', 'x__y', 'y1z2'],
    ...LONG,
  ]),
]

/** The names of whole rows or lists in statements. */
export const HAZARDS: readonly string[] =
  'r o p u t v w l s d c k a b value key row rows json text position place total page taken ctid xmin t1 id1 name'.split(
    ' ',
  )

const attributes = (names: readonly string[], type: unknown): string =>
  JSON.stringify(Object.fromEntries(names.map(name => [name, type])))

const relation = (relation: string, more: object = {}) => ({
  type: 'relation',
  relation,
  target: 'linked',
  ...more,
})

const RELATIONS: readonly string[] = HAZARDS.flatMap(name => [
  `      ${name}: ${JSON.stringify(relation('manyToOne'))}`,
  `      ${name}Many: ${JSON.stringify(relation('manyToMany', { inversedBy: `${name}Back` }))}`,
  `      ${name}Back: ${JSON.stringify(relation('manyToMany', { mappedBy: `${name}Many` }))}`,
])

/** A project whose types, components and relations have those names. */
export const PROJECT = `
i18n: { locales: [en, fr], defaultLocale: en }
components:
  parts.all: { attributes: ${attributes(ATTRIBUTE_NAMES, 'string')} }
  parts.nested: { attributes: { r: { type: component, component: parts.all, repeatable: true }, o: { type: relation, relation: oneToOne, target: plain } } }
contentTypes:
  plain: { attributes: ${attributes(ATTRIBUTE_NAMES, 'string')} }
  versioned:
    draftAndPublish: true
    localized: true
    attributes: ${attributes(ATTRIBUTE_NAMES, 'string')}
  marked: { draftAndPublish: true, attributes: ${attributes(HAZARDS, { type: 'string', unique: true })} }
  slugged: { attributes: { r: string, o: { type: uid, targetField: r, generate: true }, value: { type: uid, targetField: r, generate: true } } }
  linked:
    draftAndPublish: true
    attributes:
      label: string
${RELATIONS.join('\n')}
  zoned:
    draftAndPublish: true
    attributes:
      r: { type: dynamiczone, components: [parts.all, parts.nested] }
      o: { type: component, component: parts.nested }
      p: { type: component, component: parts.all, repeatable: true }
      u: { type: media, multiple: true }
`
