import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** Compares with tests/model/golden/<name>.txt; `UPDATE_GOLDEN=1` writes it, to be read before it is committed. */
export function golden(t: ExecutionContext, name: string, actual: string): void {
  const file = join(import.meta.dirname, 'golden', `${name}.txt`)
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, actual)
  t.is(actual, existsSync(file) ? readFileSync(file, 'utf8') : '')
}
