import type { GraphQLError } from 'graphql'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { AskedDocuments, Documents } from '../../documents/documents.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import { type CollectTerms, fieldsNamed } from '../parse/collect-fields.ts'
import { type Acting, optionsOf } from '../resolve/resolve-read.ts'
import { answerCode, type ToldOperation } from './answer-custom-fields.ts'
import type { AnswerPath } from './custom-field-places.ts'
import { partsOf } from './custom-field-text.ts'
import { formOfRoot, printRoot } from './print-root.ts'
import { seeText, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextTerms {
  readonly acting: Acting
  readonly documents: Documents
  readonly told: ToldOperation
}

type Text = string | Buffer

/** All of the answer, or its data in parts that follow one another, and what went wrong in them. */
export type TextAnswer =
  | { readonly body: Text }
  | { readonly data: readonly Text[]; readonly errors: readonly GraphQLError[] }

/**
 * An operation answered as text, one statement a root field; null where it has to be answered field by field:
 * what is not for the caller, and what the schema promises and the data lacks, is told with its path.
 */
export async function answerText(operation: TextOperation, terms: TextTerms): Promise<TextAnswer | null> {
  const queries = seeText(operation, terms.acting.caller)
  if (!queries) return null
  const [sole, ...others] = operation.roots
  const [query] = queries
  if (sole && query && others.length === 0 && sole.steps.length === 0) return readSole(sole, query, terms)
  const read = await Promise.all(
    operation.roots.map((root, index) => {
      const query = queries[index]
      return query ? readRoot(root, query, terms) : null
    }),
  )
  const known = read.filter(root => root !== null)
  // Only now: what is answered field by field asks the project's code once.
  return known.length < read.length
    ? null
    : joinRoots(await Promise.all(known.map(root => answerRoot(root, terms))))
}

/** All of the answer is kept, so that it goes out as it is: copying it costs more than all else. */
async function readSole(
  root: TextRoot,
  query: RestrictedQuery,
  terms: TextTerms,
): Promise<TextAnswer | null> {
  const { documents, acting } = terms
  const { formatKey: form, print, ...asked } = askedOf(root, query, terms)
  const [before, behind] = [`{"data":{${JSON.stringify(root.key)}:`, '}}']
  const around: AskedDocuments = {
    ...asked,
    formatKey: `whole ${before}${form}`,
    print(found) {
      const text = print(found)
      return text === null ? null : before + text + behind
    },
  }
  const found = await documents.findBody(around, { ...optionsOf(acting), ahead: acting.ahead })
  return found === null ? null : { body: typeof found === 'string' ? found : found.bytes }
}

/** `found`: all of it, as a body; or what the project's code has a say in. */
interface ReadRoot {
  readonly root: TextRoot
  readonly found: BodyOrText | { readonly rows: string; readonly total: number | null }
}

async function readRoot(root: TextRoot, query: RestrictedQuery, terms: TextTerms): Promise<ReadRoot | null> {
  const { documents, acting } = terms
  if (root.steps.length === 0) {
    const found = await documents.findBody(askedOf(root, query, terms), {
      ...optionsOf(acting),
      ahead: acting.ahead,
    })
    return found === null ? null : { root, found }
  }
  const { text, total } =
    query.take.kind === 'one'
      ? { text: (await documents.findOne(query, root.layout, optionsOf(acting))) ?? 'null', total: null }
      : await documents.findMany(query, root.layout, optionsOf(acting))
  return isBroken(text, root) ? null : { root, found: { rows: text, total } }
}

function askedOf(root: TextRoot, query: RestrictedQuery, { told }: TextTerms): AskedDocuments {
  const collect = collectOf(told)
  return {
    query,
    shape: root.layout,
    formatKey: formOf(root, collect),
    print({ text, total }) {
      const rows = text ?? (query.take.kind === 'one' ? 'null' : '[]')
      return isBroken(rows, root) ? null : printRoot(root, { text: rows, total }, collect)
    },
  }
}

const collectOf = (told: ToldOperation): CollectTerms => ({ ...told, variables: told.variableValues })

/** Of roots that are asked for again as the very same objects: those of one operation with the same variables. */
const forms = new WeakMap<TextRoot, string>()

function formOf(root: TextRoot, collect: CollectTerms): string {
  const form = forms.get(root) ?? formOfRoot(root, collect)
  forms.set(root, form)
  return form
}

/** Whether something is null that the schema promises. What code sees of a row may be. */
function isBroken(text: string, { broken, steps }: TextRoot): boolean {
  if (!broken?.test(text)) return false
  return steps.length === 0 || partsOf(text).some(part => broken.test(part))
}

interface Answered {
  readonly key: string
  readonly text: Text
  readonly errors: readonly GraphQLError[]
}

async function answerRoot({ root, found }: ReadRoot, terms: TextTerms): Promise<Answered> {
  const { key, code, steps } = root
  if (typeof found === 'string') return { key, text: found, errors: [] }
  if ('bytes' in found) return { key, text: found.bytes, errors: [] }
  const { acting, told } = terms
  const rows = await answerCode(found.rows, { code, steps, acting, told, root: pathOf(root) })
  const text = printRoot(root, { text: rows.text, total: found.total }, collectOf(told))
  return { key, text, errors: rows.errors }
}

/** Where the documents of a root lie. */
function pathOf({ key, typeName, fields }: TextRoot): AnswerPath {
  const prev = { prev: undefined, key, typename: 'Query' }
  const [data] = fieldsNamed(fields, 'data')
  return { prev, key: data?.[0] ?? 'data', typename: typeName }
}

const joinRoots = (roots: readonly Answered[]): TextAnswer => ({
  data: roots
    .flatMap(({ key, text }, index) => [`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`, text])
    .concat('}'),
  errors: roots.flatMap(({ errors }) => errors),
})
