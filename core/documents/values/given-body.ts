import { memoize } from '../../base/memo.ts'
import type { Attribute, ContentType } from '../../model/model.ts'
import type { CreateCommand } from '../../query/command.ts'
import { parseLinkChange } from '../../query/parse-given-values.ts'
import type { Status } from '../../query/query.ts'
import type { LinkTarget, Values } from '../desired-state.ts'
import { countPasswords, hashPasswords } from './hash-passwords.ts'
import { type LinkParser, type ParsedValues, type ParseOptions, parseValues } from './parse-attribute.ts'
import type { ValueFault } from './value-fault.ts'

/** The parsed body, in stored form. */
export interface GivenBody {
  readonly values: Values
  /** The same, with passwords as their hashes; the very same where there are none. */
  readonly hashed: Values
  readonly faults: readonly ValueFault[]
  names(attribute: Attribute): boolean
}

/** Leaves everything as it is. */
export const NOTHING_GIVEN: GivenBody = {
  values: new Map(),
  hashed: new Map(),
  faults: [],
  names: () => false,
}

/** Reads the values of a command. Before the transaction begins: passwords take their time. */
export async function readBody(
  command: Pick<CreateCommand, 'type' | 'values' | 'strict'>,
): Promise<GivenBody> {
  const { type, values: input } = command
  const parsed = parseBody(command)
  const { values } = parsed
  const passwords = countPasswords(type, values)
  const faults = passwords > MOST_PASSWORDS ? [...parsed.faults, TOO_MANY] : parsed.faults
  const names = ({ name }: Attribute) => Object.hasOwn(input, name)
  return {
    values,
    hashed: faults.length > 0 || passwords === 0 ? values : await hash(type, values),
    faults,
    names,
  }
}

/** Parses the values of a command; passwords stay as given. */
export function parseBody({
  type,
  values,
  strict,
}: Pick<CreateCommand, 'type' | 'values' | 'strict'>): ParsedValues {
  const strictness = type.draftAndPublish && strict !== true ? 'draft' : 'full'
  return parseValues(type, values, {
    ...bodyOptions(strictness),
    plainly: strict === true ? true : undefined,
  })
}

/** Each takes some 50 ms of a processor, and others wait for theirs. */
const MOST_PASSWORDS = 20

const TOO_MANY: ValueFault = {
  kind: 'rule',
  path: [],
  message: `A body may have at most ${MOST_PASSWORDS} passwords`,
}

async function hash(type: ContentType, values: Values): Promise<Values> {
  const version = { locale: null, statuses: ['published'] satisfies Status[], values }
  const [hashed] = await hashPasswords([{ type, documentId: '', versions: [version] }])
  return hashed?.versions[0]?.values ?? values
}

/** Defaults of attributes that a body leaves out. */
export const defaultsOf = memoize(
  (type: ContentType): Values => parseValues(type, {}, { ...bodyOptions('draft'), purpose: 'make' }).values,
)

const bodyOptions = (strictness: ParseOptions['strictness']): ParseOptions => ({
  strictness,
  purpose: 'change',
  componentIds: true,
  links,
})

const SOMETHING: LinkTarget = { documentId: '', locale: null, status: null }

/** The resulting list is known only in the transaction. */
const links: LinkParser = (attribute, value, path) => {
  const parsed = parseLinkChange(attribute, value, path)
  if (!parsed.ok) return { targets: undefined, faults: parsed.reasons }
  const change = parsed.value
  if (change === null) return { targets: undefined, faults: [] }
  const isEmpty = change.kind === 'set' && change.targets.length === 0
  return { targets: isEmpty ? [] : [SOMETHING], change, faults: [] }
}
