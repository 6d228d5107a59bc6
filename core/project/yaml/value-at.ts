import type { Path } from '../../faults/diagnostic.ts'

type Container = Record<string, unknown> | unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

const member = (container: Container, key: string | number): unknown =>
  Array.isArray(container)
    ? container[Number(key)]
    : Object.hasOwn(container, key)
      ? container[key]
      : undefined

/** What stands at a path of a plain value, or undefined. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (isContainer(at) ? member(at, key) : undefined), value)

export function setAt(value: unknown, path: Path, replacement: unknown): void {
  const parent = valueAt(value, path.slice(0, -1))
  const key = path.at(-1)
  if (!isContainer(parent) || key === undefined) return
  if (Array.isArray(parent)) parent[Number(key)] = replacement
  else parent[key] = replacement
}

export function deleteAt(value: unknown, path: Path): void {
  const parent = valueAt(value, path.slice(0, -1))
  const key = path.at(-1)
  if (!isContainer(parent) || key === undefined) return
  if (Array.isArray(parent)) deleteAt(value, path.slice(0, -1))
  else delete parent[key]
}

/** Sections of names that others refer to: a faulty one is emptied, so that it still goes by its name. */
const NAMED = new Set<string | number | undefined>(['contentTypes', 'components', 'roles'])

/** Takes a value out of a project: a named thing is emptied before it is deleted, a list goes with its item. */
export function prune(value: unknown, path: Path): void {
  const found = valueAt(value, path)
  const isEmpty = isContainer(found) && Object.keys(found).length === 0
  if (path.length === 2 && NAMED.has(path[0]) && !isEmpty) setAt(value, path, {})
  else deleteAt(value, path)
}
