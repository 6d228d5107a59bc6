import { wordSourceOf } from '../model/search-words.ts'
import type { FillTrigger, SearchText } from '../model/storage.ts'
import { qualified, quoteConstant } from './ddl.ts'
import { quoteIdentifier as ident } from './identifier.ts'

/** Letters of a word that is corrected, and of a word to which it is corrected: that one may be a stem. */
const MIN_TYPED = 4
const MIN_WORD = 3
const MAX_WORD = 40

/** ASCII characters that are not letters: a word with one of these, such as a digit, is not corrected. */
const OTHER = quoteConstant('[\\u0001-@[-`{-\\u007F]')

/** Similar enough (pg_trgm) to be looked at, and to be taken without another test. */
const CANDIDATE = 0.2
const SIMILAR = 0.4

const isWord = (word: string, least: number): string =>
  `char_length(${word}) BETWEEN ${least} AND ${MAX_WORD} AND ${word} !~ ${OTHER}`

/** The lexeme as a query. A word contains no character with a meaning in a quoted lexeme. */
const lexemeQuery = (word: string): string => `('''' || ${word} || '''')::tsquery`

/**
 * The functions that correct typing errors. `plinth_similar_words`: the query in which similar words of the texts are alternatives of
 * each word, and these words, each with its similarity; NULL: there are none. `plinth_similar_rank`: from -1 to 0.
 * `plinth_remove_unused_words`: deletes words that no vector contains, and returns their number.
 */
export const printTypoFunctions = (schema: string): readonly string[] => [
  LOAD,
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_similar_words')}(configuration regconfig, given text, known_words text, sources text,
    OUT query tsquery, OUT alternatives tsquery[], OUT similarities real[])
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET pg_trgm.similarity_threshold = ${CANDIDATE} AS ${quoteConstant(printCorrections(schema))}`,
  // Words that the vector does not contain add 0, so words of other documents change no rank.
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_similar_rank')}(vector tsvector, alternatives tsquery[], similarities real[]) RETURNS real LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS ${quoteConstant(RANK)}`,
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_remove_unused_words')}(content_type regclass, words regclass) RETURNS bigint LANGUAGE plpgsql AS ${quoteConstant(REMOVE)}`,
]

/** Only superusers may name a setting of a library that their session has not loaded. */
const LOAD = `DO ${quoteConstant(`
DECLARE
  place constant text := (SELECT quote_ident(nspname) FROM pg_catalog.pg_extension AS extension
    JOIN pg_catalog.pg_namespace AS space ON space.oid = extension.extnamespace WHERE extension.extname = 'pg_trgm');
BEGIN
  IF place IS NOT NULL THEN EXECUTE 'SELECT ' || place || '.similarity(chr(97), chr(97))'; END IF;
END`)}`

/**
 * A transaction that writes a text finds its words among the known ones, so none of them may be deleted before it ends: the lock waits
 * for such transactions. Candidates are found before the lock, so writes wait only while these are checked again.
 */
const REMOVE = `
DECLARE
  is_unused constant text := (SELECT string_agg(format(
      'NOT EXISTS (SELECT FROM %s WHERE %I @@ (chr(39) || known.word || chr(39))::tsquery)', content_type, attname), ' AND ')
    FROM pg_catalog.pg_attribute WHERE attrelid = content_type AND NOT attisdropped AND attname LIKE '\\_search\\_%');
  candidates text[];
  removed bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'plinth_remove_unused_words runs in transactions of the level READ COMMITTED only';
  END IF;
  EXECUTE format('SELECT array_agg(known.word) FROM (SELECT DISTINCT word FROM %s) AS known WHERE %s', words, is_unused) INTO candidates;
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', content_type);
  EXECUTE format('DELETE FROM %s AS known WHERE known.word = ANY ($1) AND %s', words, is_unused) USING candidates;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END`

const RANK = `
DECLARE
  total real := 0;
BEGIN
  FOR at IN 1 .. cardinality(alternatives) LOOP
    total := total + similarities[at] * ts_rank(vector, alternatives[at]);
  END LOOP;
  RETURN total / (1 + total) - 1;
END`

/** The column of `plinth_similar_words` that it is. */
export type SimilarWords = 'query' | 'alternatives' | 'similarities'

/** A lexeme in the text of a query. */
const LEXEME = `'''([^''\\\\]+)'''`

/** The forms of a word in which one letter is missing, or exchanged with its neighbour. */
const REPAIRED = `(overlay(form PLACING '' FROM at FOR 1)), (overlay(form PLACING reverse(substr(form, at, 2)) FROM at FOR 2))`

/** LIKE patterns of all words that differ by one letter: it is wrong, additional, missing, or exchanged with its neighbour. */
const NEAR = `(overlay(form PLACING '_' FROM at FOR 1)), (overlay(form PLACING '_' FROM at FOR 0)), ${REPAIRED}`

/**
 * Every word that is similar enough is an alternative, not the best ones only: a word of documents that the caller may not
 * see must not take the place of another. Exchanged and additional letters of a short
 * word leave few equal trigrams, so words without these are made and looked up, also in other forms of their stem. Placeholders keep the alternatives of one word from getting alternatives of their own.
 */
function printCorrections(schema: string): string {
  const fold = `${qualified(schema, 'plinth_fold')}(known.word::text)`
  const similarity = (typed: string) => `%1$s.similarity(known.word, ${typed})`
  const candidates = `SELECT ${lexemeQuery('found.word')}, max(found.similarity) FROM (
      SELECT known.word, greatest(${similarity('$1')}, ${similarity('$2')}) AS similarity FROM ${ident(schema)}.%2$I AS known
      WHERE known.source = ANY ($3) AND (${fold} OPERATOR(%1$s.%%) $1 OR ${fold} OPERATOR(%1$s.%%) $2 OR known.word = ANY ($4))) AS found
    WHERE found.word <> $6 AND (found.similarity >= ${SIMILAR} OR found.word LIKE ANY ($5) OR found.word = ANY ($4))
    GROUP BY found.word ORDER BY found.word COLLATE "C"`
  return `
DECLARE
  trigrams constant text := (SELECT quote_ident(nspname) FROM pg_catalog.pg_extension AS extension
    JOIN pg_catalog.pg_namespace AS space ON space.oid = extension.extnamespace WHERE extension.extname = 'pg_trgm');
  rewritten tsquery := websearch_to_tsquery(configuration, given);
  before tsquery;
  typed text;
  stem text;
  word tsquery;
  similarity real;
  repaired text[];
  near text[];
  replaced tsquery[] := '{}';
  found tsquery[] := '{}';
  found_similarities real[] := '{}';
  is_found boolean := false;
BEGIN
  IF trigrams IS NULL THEN RETURN; END IF;
  FOR typed IN SELECT DISTINCT part[1] FROM regexp_matches(querytree(websearch_to_tsquery('pg_catalog.simple', given)), ${LEXEME}, 'g') AS part ORDER BY 1 LOOP
    CONTINUE WHEN NOT (${isWord('typed', MIN_TYPED)});
    stem := substring(plainto_tsquery(configuration, typed)::text FROM ${LEXEME});
    CONTINUE WHEN stem IS NULL OR NOT (${isWord('stem', 1)});
    before := rewritten;
    rewritten := ts_rewrite(rewritten, ${lexemeQuery('stem')}, ${lexemeQuery(`'$' || cardinality(replaced) + 1`)});
    CONTINUE WHEN rewritten = before;
    repaired := ARRAY(SELECT substring(plainto_tsquery(configuration, other)::text FROM ${LEXEME})
      FROM (SELECT typed AS form) AS forms, generate_series(1, char_length(form)) AS at, LATERAL (VALUES ${REPAIRED}) AS each (other));
    near := ARRAY(SELECT DISTINCT pattern
      FROM unnest(ARRAY[typed, stem]) AS form, generate_series(1, char_length(form) + 1) AS at, LATERAL (VALUES ${NEAR}) AS each (pattern));
    replaced := replaced || ${lexemeQuery('stem')};
    found := found || ${lexemeQuery('stem')};
    found_similarities := found_similarities || 1::real;
    FOR word, similarity IN EXECUTE format(${quoteConstant(candidates)}, trigrams, known_words) USING typed, nullif(stem, typed), string_to_array(sources, ','), repaired, near, stem LOOP
      is_found := true;
      replaced[cardinality(replaced)] := replaced[cardinality(replaced)] || word;
      found := found || word;
      found_similarities := found_similarities || similarity;
    END LOOP;
  END LOOP;
  IF NOT is_found THEN RETURN; END IF;
  FOR at IN 1 .. cardinality(replaced) LOOP
    rewritten := ts_rewrite(rewritten, ${lexemeQuery("'$' || at")}, replaced[at]);
  END LOOP;
  query := rewritten;
  alternatives := found;
  similarities := found_similarities;
END`
}

/**
 * Adds the words of the texts that are not known yet. A subquery looks up each word in the index, however few rows the table
 * had when the statement was planned (the function of the trigger allows no sequential scan). `variable`: holds the text's vector.
 *
 * The words of the row's former vector are known, unless the vectors are being filled. Only weights tell of which text
 * they are.
 */
export function printWords(
  schema: string,
  words: string,
  { vectors }: FillTrigger,
  variable: (text: SearchText) => string,
): string {
  const table = qualified(schema, words)
  const [whole] = vectors
  const texts = whole?.texts ?? []
  const wordsOf = (text: SearchText) => {
    if (!whole || texts.filter(({ weight }) => weight === text.weight).length > 1) return variable(text)
    const former = `ts_filter(OLD.${ident(whole.column)}, '{${text.weight.toLowerCase()}}')`
    return `CASE WHEN is_known THEN ts_delete(${variable(text)}, coalesce(tsvector_to_array(${former}), '{}')) ELSE ${variable(text)} END`
  }
  const sources = texts.map(
    text =>
      `SELECT ${quoteConstant(wordSourceOf(text))} AS source, unnest(tsvector_to_array(${wordsOf(text)})) AS word`,
  )
  return `INSERT INTO ${table} (source, word) SELECT found.source, found.word FROM (${sources.join(' UNION ALL ')}) AS found
    WHERE ${isWord('found.word', MIN_WORD)}
      AND (SELECT true FROM ${table} AS known WHERE known.word = found.word AND known.source = found.source LIMIT 1) IS NULL;`
}
