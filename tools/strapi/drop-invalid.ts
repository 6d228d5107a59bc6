import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkApp } from '../../core/app/check-app.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Diagnostic, Path } from '../../core/faults/diagnostic.ts'
import { readProject } from '../../core/project/load-project.ts'
import type { Json } from '../../core/project/settings/settings.ts'
import { namingFile, temporaryFolder } from '../transfer/partial-path.ts'
import { type Block, type DocumentEntry, lost, printSheet } from './yaml-document.ts'

/** The maximum number of rounds. */
const MOST_ROUNDS = 500

/**
 * Removes everything that `plinth check` refuses from the document, and leaves a comment with the reason in its place.
 * The resulting file therefore always loads. Fails with the faults that could not be removed.
 */
export const repairSheet = (sheet: Block): Promise<Result<Block, Diagnostic>> =>
  inFolder(async folder => {
    const { sheet: repaired, faults } = await repairIn(folder, sheet, () => false)
    return faults.length === 0 ? ok(repaired) : failed(...faults)
  })

/**
 * What `plinth check` refuses for its name. Faults of other kinds keep the checker from comparing names, so what has them is
 * removed from a copy first.
 */
export const nameFaults = (sheet: Block): Promise<readonly Diagnostic[]> =>
  inFolder(async folder => {
    const { faults } = await repairIn(folder, sheet, found => found.some(isOfName))
    return faults.filter(isOfName)
  })

const OF_NAMES = /-clash$|^reserved-name$|^name-too-long$/

const isOfName = ({ code }: Diagnostic): boolean => OF_NAMES.test(code)

async function inFolder<Value>(run: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await temporaryFolder('plinth-import')
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A document, and its faults that were not removed. */
interface Repaired {
  readonly sheet: Block
  readonly faults: readonly Diagnostic[]
}

/** Removes faults until there are none, none can be removed, or `isEnough`. */
async function repairIn(
  folder: string,
  sheet: Block,
  isEnough: (faults: readonly Diagnostic[]) => boolean,
): Promise<Repaired> {
  let repaired = sheet
  for (let round = 0; ; round++) {
    const faults = await faultsOf(folder, repaired)
    if (faults.length === 0 || round === MOST_ROUNDS || isEnough(faults)) return { sheet: repaired, faults }
    const removed = chosen(faults).reduce(withoutFault, repaired)
    if (removed === repaired) return { sheet: repaired, faults }
    repaired = removed
  }
}

async function faultsOf(folder: string, sheet: Block): Promise<readonly Diagnostic[]> {
  const file = join(folder, 'project.yaml')
  await writeFile(file, printSheet(sheet).yaml).catch(namingFile(file))
  const { project, faults } = await readProject(folder, {})
  if (faults.length > 0 || project === undefined) return faults
  const checked = await checkApp({})(project)
  return checked.ok ? [] : checked.reasons
}

/**
 * The faults that can be removed together: one of each entry or list, one of each conflict between two entries (the other may
 * be valid without it), and none inside of what another fault removes.
 */
function chosen(faults: readonly Diagnostic[]): readonly Diagnostic[] {
  const found: { readonly fault: Diagnostic; readonly place: Path }[] = []
  const conflicts = new Set<string>()
  for (const fault of faults) {
    const place = placeOf(fault.path)
    const isConflict = fault.code.endsWith('-side') || fault.code.endsWith('-clash')
    if (place.length === 0 || (isConflict && conflicts.has(fault.code))) continue
    if (found.some(other => isWithin(place, other.place) || isWithin(other.place, place))) continue
    found.push({ fault, place })
    if (isConflict) conflicts.add(fault.code)
  }
  return found.map(({ fault }) => fault)
}

/** An attribute, a setting, or a list: without one of its items, the others have other numbers. */
function placeOf(path: Path): Path {
  const item = path.findIndex(key => typeof key === 'number')
  return path.slice(0, item < 0 ? 4 : Math.min(item, 4))
}

const isWithin = (path: Path, outer: Path): boolean => outer.every((key, index) => path[index] === key)

const withoutFault = (sheet: Block, { path, message }: Diagnostic): Block =>
  withoutPath(sheet, path, `left out: ${message}`)

/** Replaces the deepest existing entry on the path by a comment; returns the same document if there is none. */
function withoutPath(sheet: Block, [key, ...rest]: Path, note: string): Block {
  const index = sheet.entries.findIndex(each => each.key === key)
  const found = sheet.entries[index]
  if (found === undefined) return sheet
  const replaced = withoutInner(found, rest, note)
  if (replaced !== undefined) return { ...sheet, entries: sheet.entries.with(index, replaced) }
  const entries = sheet.entries.toSpliced(index, 1)
  const moved = found.notes.map(each => ({ ...each, source: each.source ?? found.source }))
  const notes = [...moved, lost(`\`${found.key}\` is ${note}`, found.source)]
  const next = entries[index]
  if (next === undefined) return { ...sheet, entries, closing: [...notes, ...sheet.closing] }
  return { ...sheet, entries: entries.with(index, { ...next, notes: [...notes, ...next.notes] }) }
}

/** The entry without the deeper part; undefined if the entry itself must be removed. */
function withoutInner(found: DocumentEntry, rest: Path, note: string): DocumentEntry | undefined {
  if (found.value.kind === 'block') {
    const inner = withoutPath(found.value, rest, note)
    return inner === found.value ? undefined : { ...found, value: inner }
  }
  if (found.value.kind !== 'flow') return undefined
  const json = withoutJson(found.value.json, rest)
  if (json === undefined) return undefined
  const what =
    rest.length === 1
      ? `\`${rest[0]}: ${JSON.stringify(valueIn(found.value.json, rest))}\``
      : `\`${rest.join('.')}\``
  return {
    ...found,
    value: { kind: 'flow', json: shortened(json) },
    notes: [...found.notes, { kind: 'remark', text: `${what} is ${note}` }],
  }
}

/** True if only the type of an attribute is left. */
function shortened(json: Json): Json {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  const [first, ...others] = Object.entries(json)
  return first?.[0] === 'type' && others.length === 0 ? first[1] : json
}

const valueIn = (json: Json, way: Path): Json | undefined =>
  way.reduce<Json | undefined>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Readonly<Record<string | number, Json>>)[key]
        : undefined,
    json,
  )

/** The value without its deepest part on the path; undefined if that is the value itself. */
function withoutJson(json: Json, [key, ...rest]: Path): Json | undefined {
  if (key === undefined || typeof json !== 'object' || json === null) return undefined
  if (Array.isArray(json)) return typeof key === 'number' ? withoutItem(json, key, rest) : undefined
  if (!Object.hasOwn(json, key)) return undefined
  const inner = valueIn(json, [key])
  const replaced = inner === undefined ? undefined : withoutJson(inner, rest)
  const entries = Object.entries(json).flatMap(([each, value]): readonly (readonly [string, Json])[] =>
    each !== key ? [[each, value]] : replaced === undefined ? [] : [[each, replaced]],
  )
  return Object.fromEntries(entries)
}

function withoutItem(items: readonly Json[], index: number, rest: Path): Json | undefined {
  const inner = items[index]
  if (inner === undefined || items.length === 1) return undefined
  const replaced = withoutJson(inner, rest)
  return replaced === undefined ? items.toSpliced(index, 1) : items.with(index, replaced)
}
