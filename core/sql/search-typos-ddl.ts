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
 * The functions that correct typing errors. `plinth_near`: one letter is added, missing, another one, or exchanged with its
 * neighbour. `plinth_corrections`: the query in which similar words of the texts are alternatives of each word, then these
 * words, each with its similarity; NULL: there are none. `plinth_corrected`: the query. `plinth_corrected_rank`: from -1 to 0.
 */
export const printTypoFunctions = (schema: string): readonly string[] => [
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_near')}(typed text, word text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS ${quoteConstant(NEAR)}`,
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_corrections')}(configuration regconfig, given text, words text, sources text) RETURNS text[]
  LANGUAGE plpgsql STABLE PARALLEL SAFE SET pg_trgm.similarity_threshold = ${CANDIDATE} AS ${quoteConstant(printCorrections(schema))}`,
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_corrected')}(corrections text[]) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN corrections[1]::tsquery`,
  // Words that the vector does not contain add 0, so words of other documents change no rank.
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_corrected_rank')}(vector tsvector, corrections text[]) RETURNS real LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    (SELECT found.total / (1 + found.total) - 1 FROM (SELECT coalesce(sum(corrections[at + 1]::real * ts_rank(vector, ${lexemeQuery('corrections[at]')})), 0)::real AS total
      FROM generate_series(2, cardinality(corrections), 2) AS at) AS found)`,
]

const NEAR = `
DECLARE
  same integer := 0;
BEGIN
  IF abs(char_length(typed) - char_length(word)) > 1 THEN RETURN false; END IF;
  WHILE same < char_length(word) AND substr(typed, same + 1, 1) = substr(word, same + 1, 1) LOOP
    same := same + 1;
  END LOOP;
  typed := substr(typed, same + 1);
  word := substr(word, same + 1);
  RETURN substr(typed, 2) = word OR typed = substr(word, 2) OR substr(typed, 2) = substr(word, 2)
    OR (left(typed, 2) = reverse(left(word, 2)) AND substr(typed, 3) = substr(word, 3));
END`

/** A lexeme in the text of a query. */
const LEXEME = `'''([^''\\\\]+)'''`

/**
 * Every word that is similar enough is an alternative, not the best ones only: a word of documents that the caller may not
 * see must not take the place of another. Exchanged and additional letters of a short
 * word leave few equal trigrams, so words without these are made and looked up, also in other forms of their stem. Placeholders keep the alternatives of one word from getting alternatives of their own.
 */
function printCorrections(schema: string): string {
  const fold = `${qualified(schema, 'plinth_fold')}(known.word::text)`
  const similarity = (typed: string) => `%1$s.similarity(known.word, ${typed})`
  const near = (typed: string) => `${qualified(schema, 'plinth_near')}(${typed}, found.word)`
  const candidates = `SELECT found.word, max(found.similarity)::text FROM (
      SELECT known.word, greatest(${similarity('$1')}, ${similarity('$2')}) AS similarity FROM ${ident(schema)}.%2$I AS known
      WHERE known.source = ANY ($3) AND (${fold} OPERATOR(%1$s.%%) $1 OR ${fold} OPERATOR(%1$s.%%) $2 OR known.word = ANY ($4))) AS found
    WHERE found.similarity >= ${SIMILAR} OR ${near('$1')} OR ${near('$2')} OR found.word = ANY ($4)
    GROUP BY found.word ORDER BY found.word COLLATE "C"`
  return `
DECLARE
  trigrams constant text := (SELECT quote_ident(nspname) FROM pg_catalog.pg_extension AS extension
    JOIN pg_catalog.pg_namespace AS space ON space.oid = extension.extnamespace WHERE extension.extname = 'pg_trgm');
  rewritten tsquery := websearch_to_tsquery(configuration, given);
  before tsquery;
  typed text;
  stem text;
  word text;
  similarity text;
  repaired text[];
  alternatives tsquery[] := '{}';
  found text[] := '{}';
  is_found boolean := false;
BEGIN
  IF trigrams IS NULL THEN RETURN NULL; END IF;
  FOR typed IN SELECT DISTINCT part[1] FROM regexp_matches(querytree(websearch_to_tsquery('pg_catalog.simple', given)), ${LEXEME}, 'g') AS part ORDER BY 1 LOOP
    CONTINUE WHEN NOT (${isWord('typed', MIN_TYPED)});
    stem := substring(plainto_tsquery(configuration, typed)::text FROM ${LEXEME});
    CONTINUE WHEN stem IS NULL OR NOT (${isWord('stem', 1)});
    before := rewritten;
    rewritten := ts_rewrite(rewritten, ${lexemeQuery('stem')}, ${lexemeQuery(`'$' || cardinality(alternatives) + 1`)});
    CONTINUE WHEN rewritten = before;
    repaired := ARRAY(SELECT substring(plainto_tsquery(configuration, other)::text FROM ${LEXEME})
      FROM generate_series(1, char_length(typed)) AS at,
        LATERAL (VALUES (overlay(typed PLACING '' FROM at FOR 1)), (overlay(typed PLACING reverse(substr(typed, at, 2)) FROM at FOR 2))) AS each (other));
    alternatives := alternatives || ${lexemeQuery('stem')};
    found := found || ARRAY[stem, '1'];
    FOR word, similarity IN EXECUTE format(${quoteConstant(candidates)}, trigrams, words) USING typed, nullif(stem, typed), string_to_array(sources, ','), repaired LOOP
      CONTINUE WHEN word = stem;
      is_found := true;
      alternatives[cardinality(alternatives)] := alternatives[cardinality(alternatives)] || ${lexemeQuery('word')};
      found := found || ARRAY[word, similarity];
    END LOOP;
  END LOOP;
  IF NOT is_found THEN RETURN NULL; END IF;
  FOR at IN 1 .. cardinality(alternatives) LOOP
    rewritten := ts_rewrite(rewritten, ${lexemeQuery("'$' || at")}, alternatives[at]);
  END LOOP;
  RETURN rewritten::text || found;
END`
}

/**
 * Adds the words of the texts that are not known yet. A subquery looks up each word in the index, however few rows the table
 * had when the statement was planned (the function of the trigger allows no sequential scan). `variable`: holds the text's vector.
 */
export function printWords(
  schema: string,
  words: string,
  { vectors }: FillTrigger,
  variable: (text: SearchText) => string,
): string {
  const table = qualified(schema, words)
  const texts = vectors[0]?.texts ?? []
  const sources = texts.map(
    text =>
      `SELECT ${quoteConstant(wordSourceOf(text))} AS source, unnest(tsvector_to_array(${variable(text)})) AS word`,
  )
  return `INSERT INTO ${table} (source, word) SELECT found.source, found.word FROM (${sources.join(' UNION ALL ')}) AS found
    WHERE ${isWord('found.word', MIN_WORD)}
      AND (SELECT true FROM ${table} AS known WHERE known.word = found.word AND known.source = found.source LIMIT 1) IS NULL;`
}
