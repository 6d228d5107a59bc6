import { failed, ok, type Result } from '../base/result.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { LinkChange, TargetRef } from './command.ts'
import { invalidRelations, type LinkFault } from './link-fault.ts'
import { parseConnections, parseTargets } from './parse-link-target.ts'
import { isRecord } from './parse-place.ts'

/**
 * What a body gives a relation or a media attribute (contract/rest.md 9): a list, one id, null, or an object of
 * `connect`, `disconnect` and `set`. null: it changes nothing. `path` is that of the attribute.
 */
export function parseLinkChange(
  attribute: RelationAttribute | MediaAttribute,
  raw: unknown,
  path: Path,
): Result<LinkChange | null, LinkFault> {
  if (!isRecord(raw) || isEntry(raw)) return parseSet(attribute, raw)
  const unknown = Object.keys(raw).find(key => !OPERATIONS.has(key) && key !== OPTIONS)
  if (unknown !== undefined) return failed(unknownOperation(unknown, path))
  const { set, connect, disconnect } = raw
  const changes = connect !== undefined || disconnect !== undefined
  if (changes && set !== undefined) return failed(combined(path))
  if (changes && attribute.kind === 'media') return failed(onlySet(path))
  // As the reference has it, though `connect: []` changes nothing.
  if (set !== undefined || connect === null) return parseSet(attribute, set ?? null)
  return parseChange(attribute, { connect: connect ?? [], disconnect: disconnect ?? [] })
}

type LinkObject = Readonly<Record<string, unknown>>

const OPERATIONS: ReadonlySet<string> = new Set(['connect', 'disconnect', 'set'])
/** Of the reference's own clients; says nothing here. */
const OPTIONS = 'options'

/** `{ documentId }` or `{ id }`, whatever else is in it, such as the fields that it was answered with. */
const isEntry = (raw: LinkObject): boolean =>
  !Object.keys(raw).some(key => OPERATIONS.has(key)) &&
  (Object.hasOwn(raw, 'documentId') || Object.hasOwn(raw, 'id'))

function parseSet(
  { target }: RelationAttribute | MediaAttribute,
  raw: unknown,
): Result<LinkChange, LinkFault> {
  const targets = parseTargets(raw, target)
  return targets.ok ? ok({ kind: 'set', targets: targets.value }) : targets
}

function parseChange(
  { target }: RelationAttribute | MediaAttribute,
  given: { readonly connect: unknown; readonly disconnect: unknown },
): Result<LinkChange | null, LinkFault> {
  const connect = parseConnections(given.connect, target)
  if (!connect.ok) return connect
  const disconnect: Result<readonly TargetRef[], LinkFault> = parseTargets(given.disconnect, target)
  if (!disconnect.ok) return disconnect
  if (connect.value.length === 0 && disconnect.value.length === 0) return ok(null)
  return ok({ kind: 'change', connect: connect.value, disconnect: disconnect.value })
}

const unknownOperation = (key: string, path: Path): LinkFault => ({
  kind: 'key',
  path: [...path, key],
  message: `Invalid key ${key} at ${path.filter(step => typeof step === 'string').join('.')}`,
})

/** Spec 4.7. */
const combined = (path: Path): LinkFault =>
  invalidRelations(path, '`set` cannot be combined with `connect` or `disconnect`')

const onlySet = (path: Path): LinkFault =>
  invalidRelations(path, 'files are given as a whole, without `connect` and `disconnect`')
