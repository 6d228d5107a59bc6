import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const load = createRequire(import.meta.url)

/**
 * The absolute path of a package that is loaded by its path, because it is needed synchronously and rarely, or by a worker. An
 * installation does not have the package: the build (scripts/required-packages.json) puts its code next to its own.
 */
export function packageFile(name: string): string {
  const copied = fileURLToPath(new URL(`${basename(name)}.cjs`, import.meta.url))
  return existsSync(copied) ? copied : load.resolve(name)
}

/** Loads such a package. Lazily, as most projects do not need it. */
export const requirePackage = <Module>(name: string): Module => load(packageFile(name))
