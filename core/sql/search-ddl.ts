import { MOST_MARKS } from '../base/text.ts'
import type {
  FillTrigger,
  RefillTrigger,
  SearchText,
  SearchTrigger,
  SearchVector,
  Table,
} from '../model/storage.ts'
import { qualified, quoteConstant } from './ddl.ts'
import { quoteIdentifier as ident } from './identifier.ts'
import { printTypoFunctions, printWords } from './search-typos-ddl.ts'

/** The names of all triggers of the full-text search start with it. */
export const SEARCH_TRIGGER = 'plinth_search_'

/** The combining marks that NFD separates from their letters, and letters that it does not decompose. */
const MARKS = '[\\u0300-\\u036F]+'
const LETTERS = ['øØłŁđĐħĦı', 'oOlLdDhHi'] as const

/** Start and end of a match in text that PostgreSQL has marked. Stored texts contain neither. */
const START = 'chr(1)'
const END = 'chr(2)'

/** Characters that an excerpt starts before the first match, its length, and those of a text that are considered. */
const BEFORE = 60
const EXCERPT = 240
const CONSIDERED = 50_000

/**
 * The functions of the full-text search. `plinth_sortable`: text with at most thirty combining marks on a letter. `plinth_plain`:
 * text without accents. It has the length of its argument if that is in NFC and sortable. `plinth_blocks_text`: the text of a blocks attribute. `plinth_highlight`: an excerpt as HTML.
 */
const printTextFunctions = (schema: string): readonly string[] => [
  immutable(
    schema,
    'plinth_sortable(text) RETURNS text',
    `regexp_replace($1, ${quoteConstant(LONG_RUN_OF_MARKS)}, '\\1', 'g')`,
  ),
  immutable(
    schema,
    'plinth_plain(text) RETURNS text',
    `CASE WHEN octet_length($1) = char_length($1) THEN $1 ELSE
      translate(normalize(regexp_replace(normalize(${ident(schema)}.plinth_sortable($1), NFD), ${quoteConstant(MARKS)}, '', 'g'), NFC), ${LETTERS.map(quoteConstant).join(', ')}) END`,
  ),
  immutable(
    schema,
    'plinth_blocks_text(jsonb) RETURNS text',
    `(SELECT string_agg(part #>> '{}', ' ') FROM jsonb_path_query($1, 'strict $.**.text') AS part)`,
  ),
  immutable(
    schema,
    'plinth_escape(text) RETURNS text',
    `replace(replace(replace(replace(replace($1, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')`,
  ),
  printHighlight(schema),
]

const immutable = (schema: string, signature: string, expression: string): string =>
  `CREATE OR REPLACE FUNCTION ${ident(schema)}.${signature} LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ${expression}`

/**
 * PostgreSQL marks the matches in the text without accents, in which every character keeps its place. The excerpt is
 * cut from the original text. Tags are blanked out for PostgreSQL, which would drop them.
 */
const printHighlight = (schema: string): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_highlight')}(configuration regconfig, given text, query tsquery) RETURNS text
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS ${quoteConstant(`
DECLARE
  whole constant text := normalize(${ident(schema)}.plinth_sortable(translate(left(given, ${CONSIDERED}), ${START} || ${END}, '  ')), NFC);
  plain text := translate(${ident(schema)}.plinth_plain(whole), '<>', '  ');
  parts text[];
  place integer;
  first integer;
  size integer;
  answer text := '';
BEGIN
  IF given IS NULL THEN RETURN NULL; END IF;
  IF char_length(plain) <> char_length(whole) THEN plain := translate(whole, '<>', '  '); END IF;
  parts := string_to_array(ts_headline(configuration, plain, query,
    'HighlightAll=true,StartSel=' || ${START} || ',StopSel=' || ${END}), ${START});
  place := char_length(parts[1]);
  first := greatest(0, CASE WHEN cardinality(parts) = 1 THEN 0 ELSE place - ${BEFORE} END);
  IF first > 0 THEN
    first := first + coalesce(nullif(strpos(substr(whole, first + 1, ${BEFORE}), ' '), 0), 0);
    answer := '… ';
  END IF;
  answer := answer || ${ident(schema)}.plinth_escape(substr(whole, first + 1, least(place - first, ${EXCERPT})));
  FOR at IN 2 .. cardinality(parts) LOOP
    EXIT WHEN place - first >= ${EXCERPT};
    size := strpos(parts[at], ${END}) - 1;
    answer := answer || '<mark>' || ${ident(schema)}.plinth_escape(substr(whole, place + 1, size)) || '</mark>';
    place := place + size;
    size := char_length(parts[at]) - size - 1;
    answer := answer || ${ident(schema)}.plinth_escape(substr(whole, place + 1, least(size, greatest(0, first + ${EXCERPT} - place))));
    place := place + size;
  END LOOP;
  RETURN answer || CASE WHEN char_length(given) > first + ${EXCERPT} THEN ' …' ELSE '' END;
END`)}`

/** The functions that the search of these tables calls, besides those of its triggers. Those of typing errors need pg_trgm. */
export function printSearchFunctions(
  schema: string,
  tables: readonly Table[],
  { trigrams }: { readonly trigrams: boolean },
): readonly string[] {
  const fills = tables.flatMap(({ searchTriggers = [] }) =>
    searchTriggers.filter(({ kind }) => kind === 'fill'),
  )
  if (fills.length === 0) return []
  const hasWords = trigrams && fills.some(trigger => trigger.kind === 'fill' && trigger.words !== null)
  return [...printTextFunctions(schema), ...(hasWords ? printTypoFunctions(schema) : [])]
}

/** The function and the triggers, which replace those of the same name. `table`: the one that has them. */
export function printSearchTrigger(schema: string, table: string, trigger: SearchTrigger): readonly string[] {
  const body = printTriggerBody(schema, trigger)
  const place = qualified(schema, trigger.name)
  const fillsWords = trigger.kind === 'fill' && trigger.words !== null
  return [
    ...(fillsWords ? printTypoFunctions(schema) : []),
    `CREATE OR REPLACE FUNCTION ${place}() RETURNS trigger LANGUAGE plpgsql${fillsWords ? ' SET enable_seqscan = off' : ''} AS ${quoteConstant(body)}`,
    ...triggerConditions(trigger).flatMap(({ own, when }) => [
      `DROP TRIGGER IF EXISTS ${ident(own)} ON ${qualified(schema, table)}`,
      `CREATE TRIGGER ${ident(own)} ${when(qualified(schema, table))} EXECUTE FUNCTION ${place}()`,
    ]),
  ]
}

/** The body of the trigger's function, as the catalogue has it. */
export const printTriggerBody = (schema: string, trigger: SearchTrigger): string =>
  trigger.kind === 'fill' ? printFill(schema, trigger) : printRefill(schema, trigger)

/** The function of a trigger in the catalogue: refill triggers share one. */
export const triggerFunction = (trigger: string): string => {
  const event = Object.keys(EVENTS).find(each => trigger.endsWith(`_${each}`))
  return event === undefined ? trigger : trigger.slice(0, -event.length - 1)
}

/** The names of the triggers in the catalogue. */
export const searchTriggerNames = (trigger: SearchTrigger): readonly string[] =>
  triggerConditions(trigger).map(({ own }) => own)

/** A trigger with transition tables has one event. */
const EVENTS = {
  insert: 'NEW TABLE AS written',
  update: 'OLD TABLE AS former NEW TABLE AS written',
  delete: 'OLD TABLE AS written',
} as const

function triggerConditions(trigger: SearchTrigger) {
  if (trigger.kind === 'refill')
    return Object.entries(EVENTS).map(([event, tables]) => ({
      own: `${trigger.name}_${event}`,
      when: (table: string) =>
        `AFTER ${event.toUpperCase()} ON ${table} REFERENCING ${tables} FOR EACH STATEMENT`,
    }))
  const watched = watchedColumns(trigger).map(ident).join(', ')
  return [
    {
      own: trigger.name,
      when: (table: string) => `BEFORE INSERT OR UPDATE OF ${watched} ON ${table} FOR EACH ROW`,
    },
  ]
}

/** The columns of the row that decide what its vectors contain, and the vectors. */
export function watchedColumns(trigger: FillTrigger): readonly string[] {
  const columns = trigger.vectors.flatMap(({ column, texts }) => [
    column,
    ...texts.filter(({ component }) => component === null).map(text => text.column),
  ])
  const coordinates = [trigger.key, trigger.status, trigger.locale].filter(column => column !== null)
  return [...new Set([...columns, ...coordinates])]
}

/**
 * Locale and status of the row are lexemes of its vectors, so that the index excludes rows of others. PostgreSQL's parser makes
 * no such lexeme of a text.
 */
export const COORDINATE = '$'

/** Characters of each text; if a vector exceeds PostgreSQL's limit, of all its texts together. */
const MOST = 1_000_000
const LEAST = 100_000

function printFill(schema: string, trigger: FillTrigger): string {
  const [fallback = 'simple'] = trigger.configurations.values()
  const cases = [...trigger.configurations].map(
    ([locale, configuration]) =>
      `WHEN ${quoteConstant(locale)} THEN ${quoteConstant(`pg_catalog.${configuration}`)}`,
  )
  const standard = quoteConstant(`pg_catalog.${fallback}`)
  const chosen =
    trigger.locale === null
      ? standard
      : `CASE NEW.${ident(trigger.locale)} ${cases.join(' ')} ELSE ${standard} END`
  const columns = [trigger.locale, trigger.status].filter(column => column !== null)
  const lexemes = columns.map(column => `${quoteConstant(COORDINATE)} || NEW.${ident(column)}`)
  const coordinates =
    columns.length === 0 ? [] : [`array_to_tsvector(array_remove(ARRAY[${lexemes.join(', ')}], NULL))`]
  // The first vector contains the texts of all others.
  const texts = trigger.vectors[0]?.texts ?? []
  const vectorOf = (text: SearchText, most: number) =>
    `setweight(to_tsvector(configuration, ${ident(schema)}.plinth_plain(left(coalesce(${printText(schema, text, trigger)}, ''), ${most}))), '${text.weight}')`
  const join = (terms: readonly string[]) => [...terms, ...coordinates].join(' || ')
  const keys = texts.map(text => JSON.stringify(text))
  const variable = (text: SearchText) => `text${keys.indexOf(JSON.stringify(text))}`
  const words = trigger.words === null ? '' : printWords(schema, trigger.words, trigger, variable)
  const column = ident(trigger.vectors[0]?.column ?? '')
  const isKnown =
    words === '' ? '' : `  is_known constant boolean := TG_OP = 'UPDATE' AND NEW.${column} IS NOT NULL;\n`
  const cut = (text: SearchText) => `  BEGIN
    ${variable(text)} := ${vectorOf(text, MOST)};
  EXCEPTION WHEN program_limit_exceeded THEN
    ${variable(text)} := ${vectorOf(text, LEAST)};
  END;`
  const alone = (vector: SearchVector) => `  BEGIN
    NEW.${ident(vector.column)} := ${join(vector.texts.map(text => vectorOf(text, MOST)))};
  EXCEPTION WHEN program_limit_exceeded THEN
    NEW.${ident(vector.column)} := ${join(vector.texts.map(text => vectorOf(text, Math.floor(LEAST / vector.texts.length))))};
  END;`
  return `
DECLARE
  configuration constant regconfig := (${chosen})::regconfig;
${texts.map(text => `  ${variable(text)} tsvector;`).join('\n')}
  is_whole boolean := false;
${isKnown}BEGIN
  IF TG_OP = 'UPDATE' AND ${printSame(trigger)} THEN RETURN NEW; END IF;
  BEGIN
${texts.map(text => `    ${variable(text)} := ${vectorOf(text, MOST)};`).join('\n')}
${trigger.vectors.map(vector => `    NEW.${ident(vector.column)} := ${join(vector.texts.map(variable))};`).join('\n')}
    is_whole := true;
  EXCEPTION WHEN program_limit_exceeded THEN NULL;
  END;
  IF is_whole THEN
    ${words}
    RETURN NEW;
  END IF;
  -- Each on its own: a text must not decide how much is searched in a vector that does not contain it.
${trigger.vectors.map(alone).join('\n')}
${words === '' ? '' : [...texts.map(cut), words].join('\n')}
  RETURN NEW;
END`
}

/** True if nothing that the vectors contain has changed. Setting a vector to NULL fills all of them. */
function printSame(trigger: FillTrigger): string {
  const filled = trigger.vectors.map(({ column }) => `NEW.${ident(column)} IS NOT NULL`)
  const same = watchedColumns(trigger).map(
    column => `NEW.${ident(column)} IS NOT DISTINCT FROM OLD.${ident(column)}`,
  )
  return [...filled, ...same].join(' AND ')
}

function printText(schema: string, { column, blocks, component }: SearchText, trigger: FillTrigger): string {
  const text = (of: string) =>
    blocks ? `${ident(schema)}.plinth_blocks_text(${of}.${ident(column)})` : `${of}.${ident(column)}`
  if (component === null) return text('NEW')
  const status = trigger.status === null ? "'published'" : `NEW.${ident(trigger.status)}`
  const locale =
    trigger.locale === null ? '' : ` AND (part.locale IS NULL OR part.locale = NEW.${ident(trigger.locale)})`
  return `(SELECT string_agg(${text('part')}, ' ' ORDER BY part.position, part.id) FROM ${qualified(schema, component.table)} AS part
          WHERE part.owner = ${quoteConstant(component.owner)} AND part.owner_key = NEW.${ident(trigger.key)} AND part.status = ${status}${locale})`
}

/** Only rows whose searched columns or owners differ. */
function printRefill(schema: string, trigger: RefillTrigger): string {
  const columns = ['id', 'owner', 'owner_key', 'status', 'locale', ...trigger.columns].map(ident).join(', ')
  const among = `owner IN (${trigger.owners.map(quoteConstant).join(', ')})`
  const rows = (table: string) => `SELECT ${columns} FROM ${table} WHERE ${among}`
  const changed = `(${rows('written')} EXCEPT ${rows('former')}) UNION ALL (${rows('former')} EXCEPT ${rows('written')})`
  const status = trigger.status === null ? '' : ` AND document.${ident(trigger.status)} = part.status`
  const locale =
    trigger.locale === null
      ? ''
      : ` AND (part.locale IS NULL OR part.locale = document.${ident(trigger.locale)})`
  const update = (
    parts: string,
  ) => `UPDATE ${qualified(schema, trigger.table)} AS document SET ${ident(trigger.vector)} = NULL
      FROM (SELECT DISTINCT owner_key, status, locale FROM (${parts}) AS changed) AS part
      WHERE document.${ident(trigger.key)} = part.owner_key${status}${locale};`
  return `
BEGIN
  IF TG_OP = 'UPDATE' THEN
    ${update(changed)}
  ELSE
    ${update(rows('written'))}
  END IF;
  RETURN NULL;
END`
}

/** Code points of the combining marks that normalisation sorts (Unicode's Canonical_Combining_Class is not 0), in hexadecimal digits. */
const SORTED_MARKS = [
  '0300-036F 0483-0487 0591-05BD 05BF 05C1-05C2 05C4-05C5 05C7 0610-061A 064B-065F 0670 06D6-06DC 06DF-06E4',
  '06E7-06E8 06EA-06ED 0711 0730-074A 07EB-07F3 07FD 0816-0819 081B-0823 0825-0827 0829-082D 0859-085B 0897-089F',
  '08CA-08E1 08E3-08FF 093C 094D 0951-0954 09BC 09CD 09FE 0A3C 0A4D 0ABC 0ACD 0B3C 0B4D 0BCD 0C3C 0C48 0C4D',
  '0C55-0C56 0CBC 0CCD 0D3B-0D3C 0D4D 0DCA 0DDA-0DDD 0E38-0E3A 0E48-0E4B 0EB8-0EBA 0EC8-0ECB 0F18-0F19 0F35 0F37',
  '0F39 0F71-0F84 0F86-0F87 0FC6 1037-103A 108D 135D-135F 1714-1715 1734 17D2 17DD 18A9 1939-193B 1A17-1A18',
  '1A60-1A7C 1A7F 1AB0-1ADD 1AE0-1AEB 1B34-1B44 1B6B-1B73 1BAA-1BAB 1BE6-1BF3 1C37 1CD0-1CD2 1CD4-1CE8 1CED 1CF4',
  '1CF8-1CF9 1DC0-1DFF 20D0-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302F 3099-309A A66F A674-A67D A69E-A69F A6F0-A6F1',
  'A806 A82C A8C4 A8E0-A8F1 A92B-A92D A953 A9B3-A9C0 AAB0 AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1 AAF6 ABED FB1E',
  'FE20-FE2F 101FD 102E0 10376-1037A 10A0D-10A0F 10A38-10A3A 10A3F 10AE5-10AE6 10D24-10D27 10D69-10D6D 10EAB-10EAC',
  '10EFA-10EFF 10F46-10F50 10F82-10F85 11046 11070 1107F 110B9-110BA 11100-11102 11133-11134 11173 111C0 111CA',
  '11235-11236 112E9-112EA 1133B-1133C 1134D 11366-1136C 11370-11374 113CE-113D0 11442-11446 1145E 114C2-114C3',
  '115BF-115C0 1163F 116B6-116B7 1172B 11839-1183A 1193D-1193E 11943 119E0 11A34 11A47 11A99 11C3F 11D42-11D45',
  '11D97 11F41-11F42 1612F 16AF0-16AF4 16B30-16B36 16FF0-16FF1 1BC9E 1D165-1D169 1D16D-1D172 1D17B-1D182',
  '1D185-1D18B 1D1AA-1D1AD 1D242-1D244 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E08F',
  '1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5 1E8D0-1E8D6 1E944-1E94A',
]

/** The marks as a class of PostgreSQL's regular expressions. */
const MARK_CLASS = `[${SORTED_MARKS.join(' ')
  .replaceAll(/[0-9A-F]+/g, escapeCodePoint)
  .replaceAll(' ', '')}]`

function escapeCodePoint(digits: string): string {
  return digits.length > 4 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits}`
}

/**
 * PostgreSQL's regular expression for replacing runs of combining marks by their begin (`\\1`): `normalize` sorts the marks of a
 * letter in quadratic time, and no time limit of a statement ends it.
 */
const LONG_RUN_OF_MARKS = `(${MARK_CLASS}{${MOST_MARKS}})${MARK_CLASS}+`
